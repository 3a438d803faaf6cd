import { describe, expect, it } from 'vitest';
import { parallel, step, task } from './support/blocks.ts';
import { play } from './support/play.ts';
import { ok, signal } from './support/script.ts';

/** A step whose handler is in another build until so long after the start. */
const away = (id: string, untilMs: number, then = `effect:${id}`, extra = {}) =>
  step(id, { handler: `away:${untilMs}:${then}`, ...extra });

describe('a step whose handler another build has (RULINGS B8)', () => {
  it('waits 5 s at a time as a timer, without a try, a row or a task', async () => {
    const run = await play({ blocks: [step('a'), away('b', 60_000)], untilMs: 12_000 });
    expect([run.state, run.tree['b'], run.called]).toEqual(['scheduled', 'waiting:handler', ['a']]);
    expect(run.nodes.find(({ blockId }) => blockId === 'b')).toMatchObject({
      attempt: 0,
      error: null,
      wakeAt: run.world.startAt + 15_000,
    });
    expect(run.instance).toMatchObject({ dueAt: run.world.startAt + 15_000, openWaits: 0, totalSteps: 1 });
    expect(run.rows.map(({ blockId }) => blockId)).toEqual(['a']);
  });

  it('is called as the first try as soon as a process has the handler when it falls due', async () => {
    const run = await play({ blocks: [away('a', 7000), step('b')] });
    expect([run.state, run.called, run.endedMs]).toEqual(['completed', ['a', 'b'], 10_000]);
    expect(run.calls[0]).toMatchObject({ attempt: 0 });
  });

  it('becomes a worker task when it falls due and no build has the handler any more', async () => {
    const run = await play({ blocks: [away('a', 7000, 'worker:a')], on: { a: ok({ by: 'worker' }) } });
    expect([run.state, run.called, run.endedMs]).toEqual(['completed', ['a'], 10_000]);
    expect(run.outputs).toEqual(['a={"by":"worker"}']);
  });

  it('fails when it falls due and nobody has the handler any more', async () => {
    const run = await play({ blocks: [away('a', 7000, 'gone:a')] });
    expect(run.instance.failure?.error).toMatchObject({ code: 'HANDLER_NOT_AVAILABLE' });
  });

  it('holds up no other branch, and an open task of one does not hide its timer', async () => {
    const blocks = [parallel('both', [[away('a', 60_000)], [step('b'), task('c')]])];
    const run = await play({ blocks, untilMs: 1000 });
    expect([run.state, run.called]).toEqual(['scheduled', ['b', 'c']]);
    expect(run.instance).toMatchObject({ dueAt: run.world.startAt + 5000, openWaits: 1 });
  });

  it('is cancelled like any other wait', async () => {
    const run = await play({ blocks: [away('a', 60_000)], events: [signal(2000, 'cancel')] });
    expect([run.state, run.tree['a'], run.called]).toEqual(['cancelled', 'cancelled', []]);
  });
});
