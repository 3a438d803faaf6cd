import { describe, expect, it } from 'vitest';
import {
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
import { byAttempt, fails, ok, retryAt, retryably } from './support/script.ts';
import { members, traceOf } from './support/traces.ts';

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
