import { describe, expect, it } from 'vitest';
import { frame, leaf, row, settleAs, turnOf, write } from '../support/turn-builder.ts';
import {
  LEASE_MS,
  claim,
  claimRequest,
  commitOk,
  commitOne,
  request,
  signalOf,
  start,
  startClaimed,
} from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

/** Two sessions, one of which holds a transaction open at the worst moment (RULINGS A, reliability.md T3). */
describe('turns of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);
  const advance = (ms: number) => `UPDATE stepwell.test_clock SET at = at + interval '${ms} milliseconds'`;

  it('a stale commit that meets a take-over half way waits and is fenced (RULINGS A1)', async () => {
    const [taker, stale] = [await sessions.open(), await sessions.open()];
    const old = await startClaimed(stale.store);
    await stale.rows(advance(LEASE_MS));
    await taker.begin();
    const taken = await claim(taker.store, old.instanceId);
    expect(taken.epoch).toBe(old.epoch + 1);
    const late = commitOne(stale.store, turnOf(old, { rows: [row()], kv: [{ key: 'k', value: 1 }] }));
    await stale.untilBlocked();
    await taker.commit();
    expect(await late).toEqual({ verdict: 'fenced' });
    expect(await stale.store.listOutputs(null, old.instanceId, { node: true, retry: true })).toEqual([]);
    await commitOk(taker.store, turnOf(taken, { rows: [row()] }));
  });

  it('a take-over that meets a commit half way sees all of it (RULINGS A1, A2)', async () => {
    const [turn, taker] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.rows(advance(LEASE_MS));
    const moved = frame({ cursor: 7, leaf: leaf({ dispatchedAt: 5 }) });
    const inner = frame({ blockId: 'both', branch: 1, detail: { kind: 'branch' }, cursor: 3 });
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { frames: [write(moved), write(inner)], rows: [row()] }));
    const pending = claim(taker.store, held.instanceId);
    await taker.untilBlocked();
    await turn.commit();
    const taken = await pending;
    expect(taken.frames).toEqual(expect.arrayContaining([moved, inner]));
    expect(taken.instance).toMatchObject({ rev: 1, hasHistory: true });
    // The dispatched leaf speaks against the instance only because the commit was seen (RULINGS A18).
    expect(taken.instance.recoveryCount).toBe(1);
  });

  it('a named claim that waited for a signal is given it (RULINGS A2)', async () => {
    const [sender, hint] = [await sessions.open(), await sessions.open()];
    const id = await start(hint.store);
    const signal = signalOf(id);
    await sender.begin();
    await sender.store.signal(signal);
    const pending = claim(hint.store, id);
    await hint.untilBlocked();
    await sender.commit();
    expect((await pending).inbox.map((fact) => fact.id)).toEqual([signal.signalId]);
  });

  it('a key lock on the row, as a foreign key would take it, hides nothing from claims (RULINGS A3)', async () => {
    const [other, sweep] = [await sessions.open(), await sessions.open()];
    const id = await start(sweep.store);
    await other.begin();
    await other.rows('SELECT 1 FROM stepwell.task_instances WHERE id = $1 FOR KEY SHARE', [id]);
    const { claims } = await sweep.store.claimDue(request());
    expect(claims.map(({ instanceId }) => instanceId)).toEqual([id]);
    await other.rollback();
  });

  it('no table has a foreign key (RULINGS A3)', async () => {
    const session = await sessions.open();
    const keys = await session.rows(
      "SELECT conname FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = 'stepwell' AND contype = 'f'",
    );
    expect(keys).toEqual([]);
  });

  it('the due claim skips a locked row at once, the named one waits for it (RULINGS A28)', async () => {
    const [locker, sweep] = [await sessions.open(), await sessions.open()];
    const locked = await start(sweep.store);
    const free = await start(sweep.store);
    await locker.begin();
    await locker.store.signal(signalOf(locked));
    const { claims } = await sweep.store.claimDue(request());
    expect(claims.map(({ instanceId }) => instanceId)).toEqual([free]);
    const named = claim(sweep.store, locked);
    await sweep.untilBlocked();
    await locker.commit();
    expect((await named).inbox).toHaveLength(1);
  });

  it('a named claim gives up after the lock time-out and calls the instance held (RULINGS A28)', async () => {
    const [locker, hint] = [await sessions.open(), await sessions.open()];
    const id = await start(hint.store);
    await locker.begin();
    await locker.store.signal(signalOf(id));
    expect(await hint.store.claimOne(claimRequest(id))).toMatchObject({ status: 'held' });
    await locker.rollback();
  });

  it('a suspect that must be alone is given to one process, whoever asks at once', async () => {
    const [first, second, third] = [await sessions.open(), await sessions.open(), await sessions.open()];
    const id = await start(first.store);
    await first.store.claimOne({ ...claimRequest(id), among: 2 });
    await first.rows(advance(LEASE_MS));
    await first.begin();
    const taken = await first.store.claimOne({ ...claimRequest(id), among: 1 });
    // The sweep skips what is locked; a hint among ten waits, and then finds it held.
    const skipped = await second.store.claimExpired({ ...request(), among: 64 });
    const hint = third.store.claimOne({ ...claimRequest(id), among: 10 });
    await third.untilBlocked();
    await first.commit();
    expect(taken).toMatchObject({ status: 'claimed', claim: { among: 1, takenOver: true } });
    expect([...skipped.claims, ...(skipped.left ?? [])].map(({ instanceId }) => instanceId)).not.toContain(
      id,
    );
    expect(await hint).toMatchObject({ status: 'held' });
  });

  it('a loss that a sweep has noted is not noted again by a hint that waited for it', async () => {
    const [sweep, hint] = [await sessions.open(), await sessions.open()];
    const id = await start(sweep.store);
    await sweep.store.claimOne({ ...claimRequest(id), among: 1 });
    await sweep.rows(advance(LEASE_MS));
    await sweep.begin();
    const { left = [] } = await sweep.store.claimExpired({ ...request(), busy: true, among: 64 });
    expect(left.map(({ instanceId }) => instanceId)).toContain(id);
    const late = hint.store.claimOne({ ...claimRequest(id), among: 10 });
    await hint.untilBlocked();
    await sweep.commit();
    expect(await late).toMatchObject({ status: 'suspect', company: 1 });
    expect(await sweep.store.getInstance(null, id)).toMatchObject({ recoveryCount: 1 });
  });

  it('two due claims share the backlog without meeting (RULINGS A3, A28)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1)
      ids.push(await start(first.store, { tenantId: 'pair', priority: 3 }));
    await first.begin();
    const half = (await first.store.claimDue(request(3))).claims;
    const rest = (await second.store.claimDue(request(3))).claims;
    await first.commit();
    expect([...half, ...rest].map(({ instanceId }) => instanceId)).toEqual(ids);
  });

  it('a commit takes its instant after it got the lock (RULINGS A25)', async () => {
    const [locker, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await locker.begin();
    await locker.rows('SELECT 1 FROM stepwell.task_instances WHERE id = $1 FOR UPDATE', [held.instanceId]);
    const pending = turn.store.commit([turnOf(held, { rows: [row()] })]);
    await turn.untilBlocked();
    await locker.rows(advance(1_234));
    await locker.commit();
    const { now } = await pending;
    expect(now).toBe((await turn.store.ping()).now);
    const rows = await turn.store.listOutputs(null, held.instanceId, { node: true, retry: true });
    expect(rows?.map(({ createdAt }) => createdAt)).toEqual([now]);
  });

  it('a group commit leaves out what is locked and does not wait (RULINGS A13)', async () => {
    const [locker, batch] = [await sessions.open(), await sessions.open()];
    const claims = [
      await startClaimed(batch.store),
      await startClaimed(batch.store),
      await startClaimed(batch.store),
    ];
    const [, middle] = claims;
    if (middle === undefined) throw new Error('three were claimed');
    const turns = claims.map((held) => turnOf(held, { rows: [row()] }));
    await locker.begin();
    await locker.store.signal(signalOf(middle.instanceId));
    const { verdicts } = await batch.store.commit(turns);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['ok', 'busy', 'ok']);
    const again = batch.store.commit(turns.slice(1, 2));
    await batch.untilBlocked();
    await locker.commit();
    expect((await again).verdicts).toMatchObject([{ verdict: 'ok', granted: false, inbox: [{ seq: 1 }] }]);
  });

  it('a lone commit that cannot get its row is busy, and nothing of it is there (RULINGS A13)', async () => {
    const [locker, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await locker.begin();
    await locker.store.signal(signalOf(held.instanceId));
    expect(await commitOne(turn.store, turnOf(held, { rows: [row()] }))).toEqual({ verdict: 'busy' });
    await locker.commit();
    expect(await turn.store.listOutputs(null, held.instanceId, { node: true, retry: true })).toEqual([]);
  });

  it('group commits of the same instances in any order do not deadlock (RULINGS A13)', async () => {
    const before = await sessions.deadlockCount();
    const [first, second, third] = [await sessions.open(), await sessions.open(), await sessions.open()];
    const claims = await Promise.all(Array.from({ length: 20 }, () => startClaimed(first.store)));
    for (let round = 0; round < 40; round += 1) {
      const turns = claims.map((held) => turnOf(held, { rev: round, stepsDelta: 1 }));
      const shuffled = [...turns.slice(round % 20), ...turns.slice(0, round % 20)];
      // The same turns twice at once: each row takes one of them, the twin is already there or found the row locked.
      const answers = await Promise.all([
        first.store.commit(turns),
        second.store.commit(shuffled),
        third.store.commit([...turns].reverse()),
      ]);
      const left = turns.filter(({ instanceId }) =>
        answers.every(({ verdicts }, index) => {
          const order = [turns, shuffled, [...turns].reverse()][index] ?? [];
          return verdicts[order.findIndex((turn) => turn.instanceId === instanceId)]?.verdict === 'busy';
        }),
      );
      for (const turn of left) await commitOne(first.store, turn);
    }
    const views = await Promise.all(
      claims.map(({ instanceId }) => first.store.getInstance(null, instanceId)),
    );
    expect(views.map((view) => view?.totalSteps)).toEqual(claims.map(() => 40));
    expect(await sessions.deadlockCount()).toBe(before);
  });

  it('renewals wait for a row instead of losing its lease', async () => {
    const [locker, renewing] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(renewing.store);
    await locker.begin();
    await locker.store.signal(signalOf(held.instanceId));
    const pending = renewing.store.renewLeases([held], LEASE_MS);
    await renewing.untilBlocked();
    await locker.commit();
    expect([...(await pending)]).toEqual([held.instanceId]);
  });

  it('a settle that is undone leaves the lease where it was', async () => {
    const [turn, other] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { settle: settleAs('paused') }));
    await turn.rollback();
    expect(await other.store.getInstance(null, held.instanceId)).toMatchObject({
      state: 'running',
      rev: 0,
      leaseUntil: held.leaseUntil,
    });
  });
});
