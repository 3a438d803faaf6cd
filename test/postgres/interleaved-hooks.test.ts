import { describe, expect, it } from 'vitest';
import { row, settleAs, turnOf } from '../support/turn-builder.ts';
import { LEASE_MS, claim, commitOk, commitOne, reportOf, request } from './acts.ts';
import { ended, hooks, rest, workerHasHook } from './hook-acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

/** Two sessions, one of which holds a transaction open at the worst moment, after the end of a run ([HOOK-4]). */
describe('cleanup after an end, in two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);
  const advance = (ms: number) => `UPDATE stepwell.test_clock SET at = at + interval '${ms} milliseconds'`;

  it('a settle that meets a report half way waits and is due at once [HOOK-2] (RULINGS A4, A5)', async () => {
    const [worker, turn] = [await sessions.open(), await sessions.open()];
    const { held, taskId } = await workerHasHook(turn.store);
    await worker.begin();
    expect((await worker.store.reportTask(reportOf(taskId, 1))).status).toBe('accepted');
    const settled = commitOne(turn.store, rest(held));
    await turn.untilBlocked();
    await worker.commit();
    expect((await settled).verdict).toBe('ok');
    expect((await claim(turn.store, held.instanceId)).inbox).toMatchObject([
      { fact: { kind: 'task', taskId } },
    ]);
  });

  it('a report that meets a settle half way waits and makes the ended instance due [HOOK-2] (RULINGS A4)', async () => {
    const [worker, turn] = [await sessions.open(), await sessions.open()];
    const { held, taskId } = await workerHasHook(turn.store);
    await turn.begin();
    await commitOk(turn.store, rest(held));
    const reported = worker.store.reportTask(reportOf(taskId, 1));
    await worker.untilBlocked();
    await turn.commit();
    expect((await reported).status).toBe('accepted');
    const { claims } = await turn.store.claimDue(request());
    expect(claims).toMatchObject([
      { instanceId: held.instanceId, instance: { state: 'failed' }, inbox: [{ seq: 1 }] },
    ]);
    await turn.store.releaseLeases(claims);
  });

  it('two sweeps give the hooks of an end to one turn [HOOK-1] (RULINGS A28)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const id = await ended(first.store);
    await first.begin();
    const taken = await first.store.claimDue(request());
    expect(taken.claims.map(({ instanceId }) => instanceId)).toContain(id);
    const other = await second.store.claimDue(request());
    expect(other.claims.map(({ instanceId }) => instanceId)).not.toContain(id);
    await first.commit();
  });

  it('a hook whose turn was taken over while it ran is recorded once, by the one that took over [HOOK-3] [HOOK-4]', async () => {
    const [taker, stale] = [await sessions.open(), await sessions.open()];
    const old = await claim(stale.store, await ended(stale.store));
    await stale.rows(advance(LEASE_MS));
    await taker.begin();
    const taken = await claim(taker.store, old.instanceId);
    expect(taken).toMatchObject({ takenOver: true, instance: { hooks: { next: 0 } } });
    const record = {
      rows: [row({ blockId: 'tidy', kind: 'hook' })],
      instance: { hooks: hooks({ next: 1 }) },
    };
    const late = commitOne(stale.store, turnOf(old, record));
    await stale.untilBlocked();
    await taker.commit();
    expect(await late).toEqual({ verdict: 'fenced' });
    await commitOk(taker.store, turnOf(taken, record));
    const listed = await taker.store.listOutputs(null, old.instanceId, { node: false, retry: false });
    expect(listed).toHaveLength(1);
  });

  it('a retry finds the lease of the hooks and is told so; it does not take it away [HOOK-1]', async () => {
    const [turn, operator] = [await sessions.open(), await sessions.open()];
    const held = await claim(turn.store, await ended(turn.store));
    const asked = { ...request(), tenantId: null, instanceId: held.instanceId, mode: 'operator' as const };
    expect((await operator.store.claimOne(asked)).status).toBe('held');
    await commitOk(
      turn.store,
      turnOf(held, { instance: { hooks: null }, settle: settleAs('failed', { afterEnd: true }) }),
    );
    expect((await operator.store.claimOne(asked)).status).toBe('claimed');
  });
});
