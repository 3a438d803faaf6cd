import { describe, expect, it } from 'vitest';
import {
  child,
  forEach,
  gate,
  loop,
  parallel,
  pure,
  race,
  scope,
  sleep,
  step,
  task,
  tries,
  tryCatch,
} from './support/blocks.ts';
import type { BlockJson, List } from './support/blocks.ts';
import { type Played, play } from './support/play.ts';
import { answerAt, byAttempt, cancelAt, fails, ok, retryAt, retryably, signal } from './support/script.ts';

const STEPS = {
  before_step: { handler: 'effect:trace', params: { text: '{{data.who}}' } },
  after_step: { handler: 'effect:trace' },
};
const members = { interceptors: STEPS };

/** Rows in their order: `<`, the result and `>` of a step; hidden rows of failures and retries are not listed. */
function traceOf(run: Played): readonly string[] {
  return run.rows.flatMap((row) => {
    const [, when, ...id] = row.blockId.split(':');
    const at = row.iteration === '' ? '' : `@${row.iteration}`;
    const attempt = row.attempt === 0 ? '' : `#${row.attempt}`;
    if (row.kind === 'interceptor') {
      const mark = when === 'before' ? '<' : when === 'after' ? '>' : '';
      return mark === ''
        ? [row.blockId.slice('_interceptor:'.length)]
        : [`${mark}${id.join(':')}${at}${attempt}`];
    }
    return row.kind === 'result' || row.kind === 'error' ? [`${row.blockId}${at}${attempt}`] : [];
  });
}

describe('interceptors of steps', () => {
  it('leave a row before and after each attempt, with their params as written [INT-1] [INT-2]', async () => {
    const run = await play({ blocks: [step('a'), pure('b'), sleep('s', 300), step('c')], members });
    expect(traceOf(run)).toEqual(['<a', 'a', '>a', '<b', 'b', '>b', '<s', 's', '>s', '<c', 'c', '>c']);
    expect(run.rows.find(({ blockId }) => blockId === '_interceptor:before:a')).toMatchObject({
      output: { text: '{{data.who}}' },
      attempt: 0,
    });
    expect(run.rows.find(({ blockId }) => blockId === '_interceptor:after:a')?.output).toBeNull();
    const instants = run.rows.map(({ createdAt }) => createdAt);
    expect(instants).toEqual(instants.toSorted((left, right) => left - right));
    expect(run.world.invoked).toEqual([]);
  });

  it('trace every attempt of a step that is retried, failed ones too [INT-2]', async () => {
    const run = await play({
      blocks: [step('a', tries(3)), step('x', tries(2))],
      members,
      on: { a: byAttempt(retryably('busy'), retryably('busy'), ok('done')), x: retryably('never') },
    });
    expect(run.state).toBe('failed');
    expect(traceOf(run)).toEqual([
      ...['<a', '>a', '<a#1', '>a#1', '<a#2', 'a#2', '>a#2'],
      ...['<x', '>x', '<x#1', '>x#1', 'x#1'],
    ]);
  });

  it('trace the step of a worker when its task is created and when its report is taken in [INT-2]', async () => {
    const run = await play({
      blocks: [task('w', tries(2)), step('z')],
      members,
      on: { w: byAttempt(retryably('busy', { takesMs: 40 }), ok({ did: 1 }, { takesMs: 200 })) },
    });
    expect(traceOf(run)).toEqual(['<w', '>w', '<w#1', 'w#1', '>w#1', '<z', 'z', '>z']);
    const [before, , again, result] = run.rows.map(({ createdAt }) => createdAt - run.world.startAt);
    expect([before, again]).toEqual([0, 190]);
    expect(result).toBe(390);
  });

  it('leave nothing for a skipped step and for one that is never dispatched [INT-2]', async () => {
    const run = await play({
      blocks: [
        step('no', { when: 'false' }),
        tryCatch('t', [step('bad', { params: { x: '{{nobody.here}}' } })], [step('c')]),
        gate('g', { timeout: 50, escalation_handler: 'page' }),
      ],
      members,
    });
    expect(run.state).toBe('completed');
    expect(traceOf(run)).toEqual(['<c', 'c', '>c']);
  });

  it('trace a result from the cache after it only [CACHE-2]', async () => {
    const run = await play({
      blocks: [step('a', { cache_key: 'k' }), step('b', { cache_key: 'k' })],
      members,
    });
    expect(traceOf(run)).toEqual(['<a', 'a', '>a', 'b', '>b']);
    expect(run.called).toEqual(['a']);
  });

  it('trace branches that run at once, each in its order [INT-2]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a'), step('b')], [step('c')], [task('w')]])],
      members,
      on: { a: ok(1, { takesMs: 50 }), c: ok(1, { takesMs: 20 }), w: ok(1, { takesMs: 90 }) },
    });
    const traces = traceOf(run);
    for (const id of ['a', 'b', 'c', 'w']) {
      expect(traces.filter((text) => text.replace(/[<>]/, '') === id)).toEqual([`<${id}`, id, `>${id}`]);
    }
  });

  it('do not trace the losers of a race after they were cancelled', async () => {
    const run = await play({
      blocks: [race('r', [[step('fast')], [step('slow')]]), step('z')],
      members,
      on: { fast: ok(1, { takesMs: 10 }), slow: ok(1, { takesMs: 500 }) },
    });
    expect(traceOf(run).filter((text) => text.includes('slow') && text !== '<slow')).toEqual([]);
    expect(traceOf(run).slice(-3)).toEqual(['<z', 'z', '>z']);
  });

  it('trace a run again that is retried', async () => {
    const run = await play({
      blocks: [step('a'), step('x')],
      members,
      on: { x: ({ runNo }) => (runNo === 1 ? fails('no') : ok('yes')) },
      events: [retryAt(100)],
    });
    expect(traceOf(run)).toEqual(['<a', 'a', '>a', '<x', '>x', '<x', 'x', '>x']);
  });

  it('do not trace cleanup hooks [INT-2]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: { ...members, on_failure: [step('tidy'), task('hand')] },
      on: { x: fails('no'), hand: ok(1, { takesMs: 10 }) },
    });
    expect(traceOf(run)).toEqual(['<x', '>x', 'x']);
  });

  const WRAPS: Readonly<Record<string, (id: string, inner: List) => BlockJson>> = {
    parallel: (id, inner) => parallel(id, [inner, []]),
    loop: (id, inner) => loop(id, inner),
    for_each: (id, inner) => forEach(id, 'xs', inner),
    scope: (id, inner) => scope(id, inner),
    try: (id, inner) => tryCatch(id, inner),
    catch: (id, inner) => tryCatch(id, [step(`${id}_fails`)], inner),
    finally: (id, inner) => tryCatch(id, [pure(`${id}_first`)], [], inner),
  };
  const names = Object.keys(WRAPS);

  for (const outer of names) {
    it(`trace each attempt once, in its order, two and three levels deep inside ${outer} [INT-2]`, async () => {
      for (const [index, middle] of names.entries()) {
        for (const inner of ['none', ['loop', 'try', 'parallel'][index % 3] ?? 'loop']) {
          const leaves: List = [step('a', tries(2)), sleep('s', 40), pure('b'), task('w')];
          const deep = inner === 'none' ? leaves : [WRAPS[inner]?.('i', leaves) ?? step('none')];
          const run = await play({
            blocks: [WRAPS[outer]?.('o', [WRAPS[middle]?.('m', deep) ?? step('none')]) ?? step('none')],
            data: { xs: [1, 2] },
            members,
            on: {
              o_fails: fails('on purpose'),
              m_fails: fails('on purpose'),
              a: byAttempt(retryably('busy'), ok(1)),
              w: ok(1, { takesMs: 20 }),
            },
          });
          expect(run.state).toBe('completed');
          expectOnePairPerAttempt(run);
        }
      }
    });
  }

  function expectOnePairPerAttempt(run: Played): void {
    const traces = traceOf(run);
    expect(new Set(traces).size).toBe(traces.length);
    for (const result of run.rows.filter(({ kind }) => kind === 'result')) {
      const at = result.iteration === '' ? '' : `@${result.iteration}`;
      const name = `${result.blockId}${at}${result.attempt === 0 ? '' : `#${result.attempt}`}`;
      const positions = [`<${name}`, name, `>${name}`].map((text) => traces.indexOf(text));
      expect(positions).toEqual(positions.toSorted((left, right) => left - right));
      expect(positions).not.toContain(-1);
    }
  }
});

describe('interceptors of the run', () => {
  it('leave a row for each processed signal, custom ones included [INT-3] [SIG-9]', async () => {
    const run = await play({
      blocks: [gate('g'), sleep('s', 500)],
      members: { interceptors: { on_signal: { handler: 'effect:trace', params: { by: 'me' } } } },
      events: [
        signal(10, 'custom:knock', { loud: true }),
        signal(10, 'custom:knock', { loud: true }),
        answerAt(20, 'g', { value: 'maybe' }),
        answerAt(30, 'g', { value: 'yes' }),
        signal(40, 'update_context', { data: { a: 1 } }),
        signal(50, 'pause'),
        signal(60, 'resume'),
      ],
    });
    expect(run.state).toBe('completed');
    const rows = run.rows.filter(({ blockId }) => blockId === '_interceptor:on_signal');
    expect(
      rows.map(({ output }) => (output as { _signal: { signal_type: unknown } })._signal.signal_type),
    ).toEqual([
      { custom: 'knock' },
      { custom: 'knock' },
      { custom: 'human_input:g' },
      { custom: 'human_input:g' },
      'update_context',
      'pause',
      'resume',
    ]);
    expect(rows[0]?.output).toEqual({
      by: 'me',
      _signal: { signal_type: { custom: 'knock' }, payload: { loud: true } },
    });
  });

  it('keep params that are no object beside the signal [INT-3]', async () => {
    const run = await play({
      blocks: [sleep('s', 100)],
      members: { interceptors: { on_signal: { handler: 'effect:trace', params: 'plain' } } },
      events: [signal(10, 'custom:knock')],
    });
    expect(run.rows[0]?.output).toEqual({
      _params: 'plain',
      _signal: { signal_type: { custom: 'knock' }, payload: null },
    });
  });

  it('trace an answer that came before its gate when it is used, once [INT-3] [HI-6]', async () => {
    const run = await play({
      blocks: [sleep('s', 100), gate('g')],
      members: { interceptors: { on_signal: { handler: 'effect:trace' } } },
      events: [answerAt(10, 'g', { value: 'yes' })],
    });
    expect(run.state).toBe('completed');
    expect(traceOf(run)).toEqual(['s', 'on_signal', 'g']);
  });

  it('leave a row before the run completes [INT-4] [INS-13]', async () => {
    const run = await play({
      blocks: [step('a')],
      members: { interceptors: { on_complete: { handler: 'effect:trace', params: [1] } } },
    });
    expect(traceOf(run)).toEqual(['a', 'on_complete']);
    expect(run.rows.at(-1)).toMatchObject({ output: [1], attempt: 0 });
  });

  it('leave a row after the hooks of a run that failed, and none after a cancel [INT-4] [INS-13]', async () => {
    const interceptors = {
      on_failure: { handler: 'effect:trace' },
      on_complete: { handler: 'effect:trace' },
    };
    const on = { x: fails('no') };
    const bare = await play({ blocks: [step('x')], members: { interceptors }, on });
    expect(traceOf(bare)).toEqual(['x', 'on_failure']);
    const hooked = await play({
      blocks: [step('x')],
      members: { interceptors, on_failure: [step('tidy')] },
      on,
    });
    expect(hooked.rows.map(({ blockId }) => blockId)).toEqual(['x', 'tidy', '_interceptor:on_failure']);
    const cancelled = await play({
      blocks: [sleep('s', 500)],
      members: { interceptors, on_cancel: [step('undo')] },
      events: [cancelAt(50)],
    });
    expect(traceOf(cancelled)).toEqual([]);
  });

  it('of a child are its own, and its parent reads them among its rows [SUB-7]', async () => {
    const run = await play({
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [step('a')], members } },
    });
    const rows = run.rows[0]?.output as readonly { readonly block_id: string }[];
    expect(rows.map((row) => row.block_id)).toEqual(['_interceptor:before:a', 'a', '_interceptor:after:a']);
    expect(traceOf(run)).toEqual(['c']);
  });
});

describe('interceptors that are really called', () => {
  const invoked = {
    interceptors: {
      before_step: {
        handler: 'effect:trace',
        invoke: true,
        params: {
          step: '{{step.id}}',
          by: '{{step.handler}}',
          try: '{{step.attempt}}',
          data: '{{data.step}}',
        },
      },
      after_step: {
        handler: 'effect:trace',
        invoke: true,
        params: { out: '{{outputs.a}}', run: '{{instance.id}}' },
      },
      on_signal: { handler: 'effect:broken', invoke: true, params: { of: '{{signal.type}}' } },
      on_complete: { handler: 'effect:trace', invoke: true, params: { last: '{{outputs.b}}' } },
    },
  };

  it('get resolved params, and their answer is the row [INT-5]', async () => {
    const run = await play({
      blocks: [step('a'), pure('b'), task('w'), sleep('s', 90)],
      members: invoked,
      data: { step: 'mine' },
      on: { a: ok('A'), b: ok('B'), w: ok('W', { takesMs: 10 }) },
      events: [signal(50, 'custom:knock', 7)],
    });
    expect(run.state).toBe('completed');
    const outputs = Object.fromEntries(run.rows.map(({ blockId, output }) => [blockId, output]));
    expect(outputs).toMatchObject({
      '_interceptor:before:a': { asked: { step: 'a', by: 'effect:a', try: 0, data: 'mine' } },
      '_interceptor:after:a': { asked: { out: 'A', run: run.instance.id } },
      '_interceptor:before:b': { asked: { step: 'b', by: 'pure:b', try: 0, data: 'mine' } },
      '_interceptor:before:w': { asked: { step: 'w', by: 'worker:w', try: 0, data: 'mine' } },
      '_interceptor:on_signal': { _interceptor_error: 'broken' },
      '_interceptor:on_complete': { asked: { last: 'B' } },
    });
    expect(traceOf(run).filter((text) => text !== 'on_signal')).toEqual([
      ...['<a', 'a', '>a', '<b', 'b', '>b', '<w', 'w', '>w', '<s', 's', '>s', 'on_complete'],
    ]);
  });

  it('hold a template error as their row and change nothing [INT-5]', async () => {
    const run = await play({
      blocks: [step('a')],
      members: {
        interceptors: { before_step: { handler: 'effect:trace', invoke: true, params: '{{signal.type}}' } },
      },
    });
    expect(run.state).toBe('completed');
    expect(run.outputs[0]).toContain('_interceptor_error');
  });

  it('are called after the hooks when the run failed [INT-4] [INT-5]', async () => {
    const run = await play({
      blocks: [step('x')],
      members: {
        interceptors: { on_failure: { handler: 'effect:trace', invoke: true, params: '{{outputs.tidy}}' } },
        on_failure: [step('tidy')],
      },
      on: { x: fails('no'), tidy: ok('tidied') },
    });
    expect(run.rows.map(({ blockId }) => blockId)).toEqual(['x', 'tidy', '_interceptor:on_failure']);
    expect(run.rows.at(-1)?.output).toEqual({ asked: 'tidied' });
    const alone = await play({
      blocks: [step('x')],
      members: { interceptors: { on_failure: { handler: 'effect:trace', invoke: true } } },
      on: { x: fails('no') },
    });
    expect(alone.rows.at(-1)).toMatchObject({ blockId: '_interceptor:on_failure', output: { asked: {} } });
  });
});
