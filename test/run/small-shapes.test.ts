import { describe, expect, it } from 'vitest';
import { settle } from '../../src/core/run/settle.ts';
import { child, forEach, parallel, pure, saga, sleep, step, task } from './support/blocks.ts';
import { draftOf } from './support/draft.ts';
import { play, playOnce } from './support/play.ts';
import { cancelAt, fails, ok, signal } from './support/script.ts';

describe('small shapes', () => {
  it('a sleep with odd params lasts its default [H-7]', async () => {
    for (const params of ['x', {}, { duration_ms: -1 }, { duration_ms: '5' }, { duration_ms: 1.5 }]) {
      const run = await play({ blocks: [step('s', { handler: 'sleep', params })] });
      expect(run.endedMs).toBe(100);
    }
    const none = await play({ blocks: [sleep('s', 0)] });
    expect([none.endedMs, none.outputs]).toEqual([0, ['s={"slept_ms":0}']]);
  });

  it('a dry run stubs worker steps and passes sleeps and delays at once [DRY-1] [DRY-3]', async () => {
    const run = await play({
      blocks: [
        task('w', { params: { x: '{{data.x}}' }, output_schema: { type: 'string' } }),
        sleep('s', 900),
        step('d', { delay: { duration: 900 } }),
      ],
      data: { x: 1 },
      dryRun: true,
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 0]);
    expect(run.rows[0]?.output).toEqual({ dry_run: true, handler: 'worker:w', would: { params: { x: 1 } } });
  });

  it('a view of data that is no object still shows the item of a for_each [ACC-4]', async () => {
    const run = await play({
      blocks: [
        step('m'),
        forEach('f', 'outputs.m', [pure('a', { context_access: { data: { fields: ['item'] } } })]),
      ],
      data: 'text',
      on: { m: ok(['i']) },
    });
    expect(run.calls.at(-1)?.context.data).toEqual({ item: 'i' });
  });

  it('a cancelled saga at its end and an empty one both end as they should [SAGA-2] [CAN-1]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [[saga('g', [[step('a', { cancellable: false }), step('u')]])], [saga('e', [])]]),
      ],
      on: { a: ok(null, { takesMs: 500 }) },
      events: [cancelAt(100)],
    });
    expect(run.tree).toEqual({
      p: 'cancelled',
      g: 'cancelled',
      a: 'completed',
      u: 'cancelled',
      e: 'completed',
    });
  });

  it('a failed leaf of a branch that is cut off in the same round stays failed (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        parallel('p', [[sleep('s', 900)], [task('w'), step('n')], [task('v')]], { min_successful: 1 }),
      ],
      events: [
        { at: 5, claim: 'w' },
        { at: 5, claim: 'v' },
        { at: 100, report: 'w', answer: fails('no') },
        { at: 100, report: 'v', answer: ok() },
      ],
    });
    expect(run.tree).toEqual({ p: 'completed', s: 'cancelled', w: 'failed', n: 'skipped', v: 'completed' });
  });

  it('a child that somebody cancels fails its node [SUB-7]', async () => {
    const run = await playOnce({
      blocks: [child('c', 'inner')],
      sequences: { inner: { blocks: [sleep('i', 900)] } },
      events: [{ at: 100, cancelChildren: true }],
    });
    expect(run.instance.failure?.error).toMatchObject({ code: 'CHILD_CANCELLED' });
  });

  it('an untouched instance keeps its time when a signal comes before it is due [SETTLE-3]', async () => {
    const run = await playOnce({
      blocks: [step('a')],
      firstRunMs: 5000,
      events: [signal(100, 'update_context', { data: { x: 1 } })],
      untilMs: 200,
    });
    expect(run.instance).toMatchObject({
      state: 'scheduled',
      dueAt: run.world.startAt + 5000,
      startedAt: null,
    });
    expect(run.instance.data).toEqual({ x: 1 });
    expect(run.tree).toEqual({ a: 'pending' });
  });

  it('what did not fit is left due at once when the turn ends 6.4', async () => {
    const draft = await draftOf({ blocks: [parallel('p', [[step('a')], [step('b')]])] }, () => []);
    draft.runnableLeft = true;
    expect(settle(draft)).toMatchObject({ state: 'scheduled', dueAt: draft.env.now });
  });
});
