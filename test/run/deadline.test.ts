import { describe, expect, it } from 'vitest';
import { gate, loop, sleep, step, task, tries, tryCatch } from './support/blocks.ts';
import { type Played, play, playOnce } from './support/play.ts';
import {
  type Answer,
  answerAt,
  byAttempt,
  byRun,
  ok,
  reportAt,
  retryAt,
  retryably,
  signal,
} from './support/script.ts';

const breaches = (run: Played): unknown[] =>
  run.rows.filter((row) => row.kind === 'breach').map((row) => [row.blockId, row.attempt, row.output]);

const breached = (id: string, attempt = 0): unknown[] => [
  [id, attempt, { _error: 'sla_deadline_breached', _deadline_ms: 1000, _elapsed_ms: 1000 }],
];

describe('deadline', () => {
  const situations: readonly (readonly [string, ReturnType<typeof step>, number])[] = [
    ['a running handler', step('x', { deadline: 1000 }), 0],
    ['a worker that is silent', task('x', { deadline: 1000 }), 0],
    ['a gate nobody answers', gate('x', {}, { deadline: 1000 }), 0],
    ['a gate that would expire later', gate('x', { timeout: 5000 }, { deadline: 1000 }), 0],
    ['a wait for a retry', step('x', { deadline: 1000, ...tries(9, 700) }), 2],
    ['a sleep', sleep('x', 5000, { deadline: 1000 }), 0],
    ['a handler with a longer timeout', step('x', { deadline: 1000, timeout: 3000, ...tries(3) }), 0],
  ];
  for (const [name, block, attempt] of situations) {
    it(`ends ${name} at its instant, for good, and can be caught [DL-1] [DL-2] [DL-3]`, async () => {
      const run = await play({
        blocks: [tryCatch('t', [block], [step('c')])],
        on: {
          x: () =>
            name.includes('retry')
              ? retryably('busy')
              : name.includes('worker')
                ? 'silent'
                : ok('late', { takesMs: 9000 }),
        },
      });
      expect([run.state, run.endedMs]).toEqual(['completed', 1000]);
      expect(breaches(run)).toEqual(breached('x', attempt));
      expect(run.instance.data).toMatchObject({
        _error: { errors: [{ block_id: 'x', code: 'DEADLINE_EXCEEDED' }] },
      });
      expect(run.tree).toMatchObject({ x: 'failed', c: 'completed' });
      expect(run.frontier.openTasks).toEqual([]);
    });
  }

  it('starts after the delay, and anew in each pass and each run [DL-1]', async () => {
    const run = await play({
      blocks: [
        loop('l', [step('x', { delay: { duration: 800 }, deadline: 1000 })]),
        step('y', { deadline: 100 }),
      ],
      on: {
        x: ok(null, { takesMs: 900 }),
        y: byRun(ok(null, { takesMs: 500 }), ok(null, { takesMs: 50 })),
      },
      events: [retryAt(9000)],
    });
    expect([run.state, breaches(run)]).toEqual(['completed', []]);
  });

  it('is breached by a handler that stops when it hears that its time is nearly used up [DL-2] [DL-3]', async () => {
    const stops = (takesMs: number): Answer => retryably('stopped', { code: 'TIMEOUT', takesMs });
    const run = await play({
      blocks: [step('x', { deadline: 1000, on_deadline_breach: { handler: 'tell' } })],
      on: { x: stops(901) },
    });
    expect(breaches(run)).toEqual(breached('x'));
    expect(run.instance.failure?.error['code']).toBe('DEADLINE_EXCEEDED');
    const sooner = await playOnce({ blocks: [step('x', { deadline: 1000 })], on: { x: stops(850) } });
    expect([breaches(sooner), sooner.instance.failure?.error['code']]).toEqual([[], 'TIMEOUT']);
    const timedOut = await playOnce({
      blocks: [step('x', { deadline: 1000, timeout: 950 })],
      on: { x: stops(901) },
    });
    expect([breaches(timedOut), timedOut.instance.failure?.error['code']]).toEqual([[], 'TIMEOUT']);
  });

  it('leaves no breach row for a step that ends in time, and keeps its ordinary failures [DL-4]', async () => {
    const run = await play({
      blocks: [step('x', { deadline: 1000, timeout: 100, ...tries(2, 10) })],
      on: { x: byAttempt(ok(null, { takesMs: 500 }), ok('fine')) },
    });
    expect([run.outputs, run.called]).toEqual([['x="fine"'], ['x', 'x#1']]);
  });

  it('writes no error row beside its breach row when the run fails [ERR-ROW-2]', async () => {
    const run = await play({ blocks: [task('x', { deadline: 1000 })], events: [reportAt(2000, 'x', ok())] });
    expect(run.state).toBe('failed');
    expect(run.rows.map((row) => row.kind)).toEqual(['breach']);
    expect(run.instance.failure).toMatchObject({
      blockId: 'x',
      error: { code: 'DEADLINE_EXCEEDED', retryable: false },
    });
  });

  it('removes the breach row with a retry of the instance [OP-2]', async () => {
    const run = await play({
      blocks: [step('x', { deadline: 1000 })],
      on: { x: byRun(ok(null, { takesMs: 5000 }), ok('now')) },
      events: [retryAt(3000)],
    });
    expect(run.outputs).toEqual(['x="now"']);
  });

  it('escalates once with its params and the facts of the breach [DL-3]', async () => {
    const run = await play({
      blocks: [
        task('x', {
          deadline: 1000,
          on_deadline_breach: { handler: 'page', params: { who: '{{data.who}}', block_id: 'mine' } },
        }),
      ],
      data: { who: 'duty' },
    });
    const facts = { block_id: 'x', instance_id: run.instance.id, elapsed_ms: 1000, deadline_ms: 1000 };
    expect(run.world.escalations).toEqual([
      { handler: 'page', params: { ...facts, who: 'duty', block_id: 'mine', _breach: facts } },
    ]);
  });

  it('escalates although its params cannot be resolved [DL-3]', async () => {
    const run = await play({
      blocks: [
        task('x', {
          deadline: 1000,
          on_deadline_breach: { handler: 'page', params: { who: '{{nobody.x}}' } },
        }),
      ],
    });
    expect(run.world.escalations).toMatchObject([{ handler: 'page', params: { block_id: 'x' } }]);
  });

  it('lets a result or an answer win that was accepted before (RULINGS A11)', async () => {
    const worker = await play({
      blocks: [task('x', { deadline: 1000 })],
      events: [reportAt(1000, 'x', ok('just'))],
    });
    expect(worker.state).toBe('completed');
    const person = await play({
      blocks: [gate('x', {}, { deadline: 1000 })],
      events: [answerAt(999, 'x', { value: 'yes' })],
    });
    expect(person.state).toBe('completed');
  });

  it('shows the instant on the waiting node and keeps the instance due for it [DL-2]', async () => {
    const run = await play({ blocks: [task('x', { deadline: 1000 })], untilMs: 500 });
    expect(run.instance).toMatchObject({ state: 'waiting', dueAt: run.world.startAt + 1000 });
    expect(run.nodes[0]).toMatchObject({ state: 'waiting', wakeAt: run.world.startAt + 1000 });
  });

  it('runs on while the instance is paused and is acted on after resume', async () => {
    const run = await play({
      blocks: [step('x', { delay: { duration: 10 }, deadline: 1000, ...tries(2, 900) })],
      on: { x: retryably('busy') },
      events: [signal(100, 'pause'), signal(5000, 'resume')],
    });
    expect(run.state).toBe('failed');
    expect(run.rows.map((row) => row.kind)).toEqual(['breach']);
    expect(run.called).toEqual(['x']);
  });
});
