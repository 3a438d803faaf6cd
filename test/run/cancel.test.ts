import { describe, expect, it } from 'vitest';
import {
  forEach,
  gate,
  loop,
  parallel,
  race,
  router,
  saga,
  scope,
  sleep,
  split,
  step,
  task,
  tries,
  tryCatch,
} from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { byAttempt, cancelAt, fails, ok, reportAt, retryably, signal } from './support/script.ts';

describe('cancel by signal', () => {
  const situations: readonly (readonly [string, ReturnType<typeof step>])[] = [
    ['a sleeping step', sleep('x', 9000)],
    ['a delayed step', step('x', { delay: { duration: 9000 } })],
    ['a gate', gate('x')],
    ['a worker step', task('x')],
    ['a step that waits for its retry', step('x', tries(2, 9000))],
    ['a running handler', step('x')],
  ];
  for (const [name, block] of situations) {
    it(`drops ${name} and starts nothing after it [CAN-1] [CAN-2] [CAN-3] [CAN-8]`, async () => {
      const run = await play({
        blocks: [step('a'), block, step('z')],
        on: {
          x: () =>
            name === 'a worker step'
              ? 'silent'
              : retryably('busy', { takesMs: name === 'a running handler' ? 500 : 0 }),
        },
        events: [cancelAt(100)],
      });
      expect([run.state, run.endedMs]).toEqual(['cancelled', 100]);
      expect(run.tree).toEqual({ a: 'completed', x: 'cancelled', z: 'cancelled' });
      expect(run.outputs).toEqual(['a={"from":"a"}']);
      expect(run.instance).toMatchObject({ openWaits: 0, dueAt: null });
      expect(run.frontier.openTasks).toEqual([]);
    });
  }

  const shapes: readonly (readonly [string, ReturnType<typeof step>])[] = [
    ['parallel', parallel('x', [[sleep('s', 9000)], [gate('g')], [task('w')]])],
    ['race', race('x', [[sleep('s', 9000)], [gate('g')]])],
    ['router', router('x', [['true', [sleep('s', 9000)]]])],
    ['loop', loop('x', [sleep('s', 9000)])],
    ['for_each', forEach('x', 'xs', [sleep('s', 9000)])],
    [
      'a_b_split',
      split('x', [
        [1, [sleep('s', 9000)]],
        [0, []],
      ]),
    ],
    ['saga', saga('x', [[sleep('s', 9000)]])],
    ['try_catch', tryCatch('x', [sleep('s', 9000)])],
  ];
  for (const [kind, block] of shapes) {
    for (const [outerKind, wrap] of [
      ['the root list', (inner: typeof block) => [inner]],
      ['a parallel', (inner: typeof block) => [parallel('o', [[inner, step('n')], [sleep('m', 9000)]])]],
      ['a loop', (inner: typeof block) => [loop('o', [inner])]],
      ['a try_catch', (inner: typeof block) => [tryCatch('o', [inner], [step('c')])]],
    ] as const) {
      it(`cancels a ${kind} in ${outerKind} with all that waits in it [CAN-1] [LIST-6]`, async () => {
        const run = await play({
          blocks: [...wrap(block), step('z')],
          data: { xs: [1, 2] },
          events: [cancelAt(100)],
        });
        expect([run.state, run.endedMs]).toEqual(['cancelled', 100]);
        expect(new Set(Object.values(run.tree))).toEqual(new Set(['cancelled']));
      });
    }
  }

  it('lets a started step that is not cancellable finish, its row exists, nothing follows [CAN-8] 17.3', async () => {
    for (const [block, at] of [
      [step('x', { cancellable: false }), 500],
      [sleep('x', 500, { cancellable: false }), 500],
      [step('x', { cancellable: false, delay: { duration: 400 } }), 900],
    ] as const) {
      const run = await play({
        blocks: [block, step('z')],
        on: { x: ok('row', { takesMs: 500 }) },
        events: [cancelAt(100)],
      });
      expect([run.state, run.endedMs]).toEqual(['cancelled', at]);
      expect(run.tree).toEqual({ x: 'completed', z: 'cancelled' });
      expect(run.outputs.length).toBe(1);
    }
  });

  it('lets a protected step use its retries and its worker, and drains as scheduled or waiting [CAN-5]', async () => {
    const scenario = {
      blocks: [step('x', { cancellable: false, ...tries(2, 500) }), step('z')],
      on: { x: byAttempt(retryably('busy'), ok()) },
      events: [cancelAt(100), cancelAt(200)],
    };
    const draining = await play({ ...scenario, untilMs: 300 });
    expect(draining.state).toBe('scheduled');
    expect(draining.instance.cancelRequestedAt).toBe(draining.world.startAt + 100);
    const run = await play(scenario);
    expect([run.state, run.called]).toEqual(['cancelled', ['x', 'x#1']]);
    const worker = await play({
      blocks: [task('w', { cancellable: false }), step('z')],
      events: [cancelAt(100), reportAt(600, 'w', ok({ d: 1 }))],
    });
    expect([worker.state, worker.endedMs, worker.instance.data]).toEqual(['cancelled', 600, { d: 1 }]);
  });

  it('does not protect a step that has not started yet 17.3', async () => {
    const run = await play({
      blocks: [sleep('s', 500), step('x', { cancellable: false })],
      events: [cancelAt(100)],
    });
    expect([run.state, run.tree]).toEqual(['cancelled', { s: 'cancelled', x: 'cancelled' }]);
  });

  it('keeps the ancestors of a protected step active until it has ended; then they are cancelled 17.3', async () => {
    const blocks = [
      parallel('p', [
        [router('r', [['true', [sleep('x', 500, { cancellable: false }), step('n')]]]), step('m')],
        [sleep('y', 900)],
      ]),
      step('z'),
    ];
    const draining = await play({ blocks, events: [cancelAt(100)], untilMs: 200 });
    expect(draining.state).toBe('running');
    expect(draining.tree).toEqual({
      p: 'running',
      r: 'running',
      x: 'running:sleep',
      n: 'pending',
      m: 'pending',
      y: 'cancelled',
      z: 'pending',
    });
    const run = await play({ blocks, events: [cancelAt(100)] });
    expect([run.state, run.endedMs]).toEqual(['cancelled', 500]);
    expect(run.tree).toEqual({
      p: 'cancelled',
      r: 'cancelled',
      x: 'completed',
      n: 'cancelled',
      m: 'cancelled',
      y: 'cancelled',
      z: 'cancelled',
    });
  });

  it('fails the run when a protected block fails and nothing absorbs it [CAN-4]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('x', { cancellable: false })], [sleep('y', 900)]]), step('z')],
      on: { x: fails('no', { takesMs: 300 }) },
      events: [cancelAt(100)],
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({ p: 'failed', x: 'failed', y: 'cancelled', z: 'skipped' });
    expect(run.rows.map((row) => `${row.blockId} ${row.kind}`)).toEqual(['x error']);
  });

  it('cancels a paused, a waiting and a future-scheduled instance at once [CAN-6]', async () => {
    const paused = await play({
      blocks: [step('a', { delay: { duration: 900 } })],
      events: [signal(10, 'pause'), cancelAt(100)],
    });
    expect([paused.state, paused.endedMs]).toEqual(['cancelled', 100]);
    expect(paused.tree).toEqual({ a: 'cancelled' });
  });

  it('lets a paused instance drain when something protected has started [CAN-6]', async () => {
    const blocks = [task('w', { cancellable: false }), step('z')];
    const events = [cancelAt(100), reportAt(500, 'w', ok())];
    const parallelised = [parallel('p', [blocks, [step('a', { delay: { duration: 9000 } })]])];
    const draining = await play({
      blocks: parallelised,
      events: [signal(10, 'pause'), ...events],
      untilMs: 200,
    });
    expect(draining.state).toBe('waiting');
    expect(draining.tree).toEqual({ p: 'running', w: 'waiting:worker', z: 'pending', a: 'cancelled' });
    const run = await play({ blocks: parallelised, events: [signal(10, 'pause'), ...events] });
    expect([run.state, run.tree]).toEqual([
      'cancelled',
      { p: 'cancelled', w: 'completed', z: 'cancelled', a: 'cancelled' },
    ]);
  });

  it('ends a paused instance as failed by legal transitions when its protected step has failed meanwhile [INS-10]', async () => {
    const run = await playOnce({
      blocks: [
        parallel('p', [[task('w', { cancellable: false })], [step('a', { delay: { duration: 9000 } })]]),
      ],
      events: [{ at: 5, claim: 'w' }, signal(10, 'pause'), reportAt(50, 'w', fails('no')), cancelAt(100)],
    });
    expect(run.state).toBe('failed');
    const audit = (await run.world.store.listAudit(null, run.instance.id, 100)) ?? [];
    const steps = audit.map((row) => `${row.fromState} ${row.toState}`).reverse();
    expect(steps.slice(-2)).toEqual(['paused scheduled', 'running failed']);
  });

  it('takes a result before it cancels when both were accepted in this order', async () => {
    const run = await play({
      blocks: [task('w'), step('z')],
      events: [reportAt(100, 'w', ok({ d: 1 })), cancelAt(100)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.instance.data).toEqual({ d: 1 });
    expect(run.tree).toEqual({ w: 'completed', z: 'cancelled' });
  });

  it('never starts an instance that it cancels before its first turn', async () => {
    const run = await play({ blocks: [step('a'), parallel('p', [[step('b')]])], events: [cancelAt(0)] });
    expect(run.state === 'cancelled' || run.state === 'completed').toBe(true);
  });
});

describe('cancel by an operator', () => {
  it('ends the run at once, protected or not, and shows every node as cancelled [CAN-7]', async () => {
    const run = await play({
      blocks: [
        step('a'),
        loop('l', [
          scope('k', [step('b'), sleep('s', 900), step('c')]),
          tryCatch('t', [step('d')], [], [step('e')]),
        ]),
        parallel('p', [[step('y')]]),
      ],
      events: [{ at: 100, operate: 'cancel' }],
    });
    expect([run.state, run.endedMs]).toEqual(['cancelled', 100]);
    expect(run.tree).toEqual({
      a: 'completed',
      l: 'cancelled',
      k: 'cancelled',
      b: 'completed',
      s: 'cancelled',
      c: 'cancelled',
      t: 'cancelled',
      d: 'cancelled',
      e: 'cancelled',
      p: 'cancelled',
      y: 'cancelled',
    });
    expect(run.frontier.frames.length).toBe(1);
  });

  it('shows the pass of a loop that was cut off [CAN-7] [LOOP-9]', async () => {
    const run = await play({
      blocks: [loop('l', [step('b'), sleep('s', 60), step('c')], { max_iterations: 5 })],
      events: [{ at: 100, operate: 'cancel' }],
    });
    expect(run.nodes.find((node) => node.blockId === 'b')).toMatchObject({
      state: 'completed',
      iteration: 'l:1',
    });
    expect(run.tree).toEqual({ l: 'cancelled', b: 'completed', s: 'cancelled', c: 'cancelled' });
  });
});
