import { describe, expect, it } from 'vitest';
import { child, gate, pure, race, scope, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { cancelAt, fails, ok, reportAt } from './support/script.ts';

const SUCCEED = { semantics: 'first_to_succeed' };
const winnerOf = (
  run: { readonly nodes: readonly { blockId: string; decision: unknown }[] },
  id: string,
): unknown => run.nodes.find((node) => node.blockId === id)?.decision;

describe('race', () => {
  it('is won by the first branch that drains; the others are cancelled [RACE-1] [RACE-2] [RACE-3]', async () => {
    const run = await play({
      blocks: [race('r', [[sleep('a', 1000), step('b')], [sleep('c', 100)], [task('w')]]), step('z')],
    });
    expect(run.state).toBe('completed');
    expect(run.endedMs).toBe(100);
    expect(run.tree).toEqual({
      r: 'completed',
      a: 'cancelled',
      b: 'cancelled',
      c: 'completed',
      w: 'cancelled',
      z: 'completed',
    });
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 1 });
  });

  it('takes the lowest index of the branches that drained in one round [RACE-2]', async () => {
    const run = await play({
      blocks: [race('r', [[sleep('a', 100)], [sleep('b', 100)]])],
    });
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 0 });
  });

  it('drops the open task of a loser; its late result has no effect [RACE-3]', async () => {
    const run = await play({
      blocks: [race('r', [[task('w')], [step('a')]]), sleep('s', 100)],
      events: [reportAt(50, 'w', ok({ stale: true }))],
    });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({ r: 'completed', w: 'cancelled', a: 'completed', s: 'completed' });
    expect(run.instance.data).toEqual({});
  });

  it('aborts the running handler of a loser and drops its result [RACE-3]', async () => {
    const run = await play({
      blocks: [race('r', [[step('slow')], [step('fast')]]), sleep('s', 2000)],
      on: { slow: ok('slow', { takesMs: 1000 }), fast: ok('fast', { takesMs: 10 }) },
    });
    expect(run.tree).toEqual({ r: 'completed', slow: 'cancelled', fast: 'completed', s: 'completed' });
    expect(run.outputs).toEqual(['fast="fast"', 's={"slept_ms":2000}']);
  });

  it('does not protect anything from losing [RACE-3]', async () => {
    const run = await play({
      blocks: [
        race('r', [
          [scope('k', [sleep('a', 900)])],
          [tryCatch('t', [sleep('b', 900)], [], [step('f')])],
          [step('c', { cancellable: false, delay: { duration: 900 } })],
          [sleep('d', 10)],
        ]),
      ],
    });
    expect(run.endedMs).toBe(10);
    expect(run.tree).toEqual({
      r: 'completed',
      k: 'cancelled',
      a: 'cancelled',
      t: 'cancelled',
      b: 'cancelled',
      f: 'cancelled',
      c: 'cancelled',
      d: 'completed',
    });
  });

  it('cancels the child of a loser [RACE-3] [SUB-9]', async () => {
    const run = await play({
      blocks: [race('r', [[child('c', 'slow')], [sleep('a', 10)]])],
      sequences: { slow: { blocks: [sleep('inner', 9000)] } },
    });
    expect(run.state).toBe('completed');
    const [started] = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
    expect(started?.state).toBe('cancelled');
  });

  it('fails at once with first_to_resolve when a branch fails [RACE-4]', async () => {
    const run = await play({
      blocks: [
        race('r', [
          [step('a'), step('x')],
          [sleep('b', 100), step('y')],
        ]),
      ],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('failed');
    expect(run.endedMs).toBe(0);
    expect(run.tree).toEqual({ r: 'failed', a: 'failed', x: 'skipped', b: 'cancelled', y: 'cancelled' });
  });

  it('leaves a failed branch out with first_to_succeed [RACE-5]', async () => {
    const run = await play({
      blocks: [race('r', [[step('a'), step('x')], [sleep('b', 100)]], SUCCEED)],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({ r: 'completed', a: 'failed', x: 'skipped', b: 'completed' });
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 1 });
  });

  it('fails with first_to_succeed when all branches are out [RACE-5] [ERR-ROW-2]', async () => {
    const run = await play({
      blocks: [race('r', [[step('a')], [sleep('b', 10), step('c')]], SUCCEED)],
      on: { a: fails('no'), c: fails('neither') },
    });
    expect(run.state).toBe('failed');
    expect(run.rows.filter((row) => row.kind === 'error').map((row) => row.blockId)).toEqual(['a', 'c']);
  });

  it('counts the win when one branch drains and another fails in one round [RACE-6]', async () => {
    const run = await play({
      blocks: [race('r', [[step('a')], [step('b')]])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 1 });
  });

  it('is won by an empty branch [RACE-7]', async () => {
    const run = await play({ blocks: [race('r', [[gate('g')], []])] });
    expect(run.state).toBe('completed');
    expect(run.tree).toEqual({ r: 'completed', g: 'cancelled' });
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 1 });
  });

  it('lets a branch whose inner catch swallows a failure win (chapter 10)', async () => {
    const run = await play({
      blocks: [race('r', [[tryCatch('t', [step('a')])], [sleep('b', 10)]])],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 0 });
  });

  it('leaves no error row for a loser that failed [ERR-ROW-3]', async () => {
    const run = await play({
      blocks: [race('r', [[step('a')], [sleep('b', 10)]], SUCCEED)],
      on: { a: fails('no') },
    });
    expect(run.outputs).toEqual(['b={"slept_ms":10}']);
  });

  it('is cancelled with the run, and waits for what is protected in it [CAN-1]', async () => {
    const run = await playOnce({
      blocks: [race('r', [[step('a', { cancellable: false })], [sleep('b', 900)]])],
      on: { a: ok('done', { takesMs: 100 }) },
      events: [cancelAt(10)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.tree).toEqual({ r: 'cancelled', a: 'completed', b: 'cancelled' });
    expect(run.endedMs).toBe(100);
  });

  it('runs pure leaves of its branches', async () => {
    const run = await play({ blocks: [race('r', [[pure('a'), pure('b')], [pure('c')]])] });
    expect(winnerOf(run, 'r')).toMatchObject({ winner: 1 });
  });
});
