import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { systemClock } from '../../src/adapters/system.ts';
import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import {
  TENANT,
  auditEntry,
  frame,
  leaf,
  newInstance,
  nextId,
  row,
  sequence,
  settleAs,
  turnOf,
} from '../support/turn-builder.ts';
import { LEASE_MS, claimRequest, commitOk, request, signalOf, start, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

/** A leaf's result with the intent of the next one: what a sequence of effectful steps commits per step. */
function step(claim: Claim, rev: number): TurnCommit {
  const next = frame({ cursor: rev + 1, leaf: leaf({ startedAt: 1_000 + rev, dispatchedAt: 1_000 + rev }) });
  return turnOf(claim, {
    rev,
    hasResult: true,
    stepsDelta: 1,
    rows: [row({ blockId: `step-${rev}`, output: { ok: true, order: 'A-1042', total: 1_250 } })],
    frames: [{ frame: { ...next, leaf: null }, intent: next }],
    instance: { currentStep: { blockId: `step-${rev + 1}`, startedAt: 1_000 + rev, attempt: 0 } },
  });
}

describe('the cost of a step', () => {
  const sessions = useSessions(MIGRATED);

  const STEPS = 300;
  const WRITES = `
SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
WHERE schemaname = 'stepwell' AND relname = 'task_instances'`;

  it('is one HOT update of the instance and one inserted row (RULINGS A29)', async () => {
    const session = await sessions.open();
    const claim = await startClaimed(session.store, { data: { order: 'A-1042', lines: [1, 2, 3] } });
    await session.rows('SELECT pg_stat_force_next_flush()');
    const [before] = await session.rows(WRITES);
    for (let rev = 0; rev < STEPS; rev += 1) await commitOk(session.store, step(claim, rev));
    await session.rows('SELECT pg_stat_force_next_flush()');
    const [after] = await session.rows(WRITES);
    expect(Number(after?.['updated']) - Number(before?.['updated'])).toBe(STEPS);
    // The last row of a page now and then has to move: 95 of 100 stay.
    expect(Number(after?.['hot']) - Number(before?.['hot'])).toBeGreaterThanOrEqual(STEPS * 0.95);
  });

  it('stays HOT when the step changes the context and when many share a commit (RULINGS A29)', async () => {
    const session = await sessions.open();
    const claims: Claim[] = [];
    for (let index = 0; index < 20; index += 1) claims.push(await startClaimed(session.store));
    await session.rows('SELECT pg_stat_force_next_flush()');
    const [before] = await session.rows(WRITES);
    for (let rev = 0; rev < 15; rev += 1) {
      const turns = claims.map((claim) => {
        const turn = step(claim, rev);
        return { ...turn, instance: { ...turn.instance, dataSet: { [`answer-${rev}`]: { n: rev } } } };
      });
      const { verdicts } = await session.store.commit(turns);
      expect(verdicts.every(({ verdict }) => verdict === 'ok')).toBe(true);
    }
    await session.rows('SELECT pg_stat_force_next_flush()');
    const [after] = await session.rows(WRITES);
    expect(Number(after?.['hot']) - Number(before?.['hot'])).toBeGreaterThanOrEqual(300 * 0.9);
  });

  it('is some 800 bytes of write-ahead log, however long the run has been', async () => {
    const session = await sessions.open();
    const claim = await startClaimed(session.store);
    const walOf = async (from: number, to: number): Promise<number> => {
      const [begin] = await session.rows('SELECT pg_current_wal_insert_lsn() AS lsn');
      for (let rev = from; rev < to; rev += 1) await commitOk(session.store, step(claim, rev));
      const [end] = await session.rows(
        'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::int AS bytes',
        [begin?.['lsn']],
      );
      return Number(end?.['bytes']) / (to - from);
    };
    await walOf(0, 50);
    const early = await walOf(50, 150);
    await walOf(150, 900);
    const late = await walOf(900, 1_000);
    expect(early).toBeLessThan(900);
    expect(late).toBeLessThan(early * 1.5);
  });
});

describe('round trips', () => {
  const sessions = useSessions(MIGRATED);
  let neonLocal: NeonLocal | undefined;
  let driver: SqlDriver | undefined;

  beforeAll(async () => {
    neonLocal = await startNeonLocal();
    driver = createNeonDriver({ connectionString: sessions.url, clock: systemClock });
  });
  afterAll(async () => {
    await driver?.close();
    await neonLocal?.close();
  });

  it('are one HTTP request for every operation, reads under row-level security included', async () => {
    if (driver === undefined || neonLocal === undefined) throw new Error('both are open while tests run');
    const store = createPostgresStore(driver);
    const id = await start(store);
    const answer = await store.claimOne(claimRequest(id));
    if (answer.status !== 'claimed') throw new Error(answer.status);
    const { claim } = answer;
    const key = { tenantId: TENANT, instanceId: id };
    const lease = { leaseToken: nextId(), leaseOwner: 'p', leaseMs: LEASE_MS };
    const many = [await startClaimed(store), await startClaimed(store)];
    const list = { namespace: null, sequenceId: null, states: [], metadata: [], limit: 5, offset: 0 };
    const acts: readonly (() => Promise<unknown>)[] = [
      () => store.start({ instances: [newInstance()], onKnownKey: 'first', lease }),
      () => store.claimDue(request()),
      () => store.claimExpired(request()),
      () => store.commit([step(claim, 0)]),
      () => store.commit(many.map((each) => step(each, 0))),
      () => store.signal(signalOf(id)),
      () => store.renewLeases([claim], LEASE_MS),
      () => store.peekInbox([{ ...claim, seenSeq: 0 }]),
      () => store.nextWake(),
      () => store.readOutputs(key, ['step-0']),
      () => store.readState(key, 'all'),
      () => store.getInstance(TENANT, id),
      () => store.getInstance(null, id),
      () => store.getFrontier(TENANT, id),
      () => store.listInstances({ ...list, tenantId: TENANT }),
      () => store.listOutputs(TENANT, id, { node: true, retry: true }),
      () => store.listAudit(TENANT, id, 5),
      () => store.insertSequence(sequence()),
      () => store.listTriggers(null, 5),
      () => store.ping(),
      () =>
        store.commit([
          turnOf(claim, {
            rev: 1,
            seenSeq: 1,
            audit: [auditEntry('running', 'completed')],
            settle: settleAs('completed'),
          }),
        ]),
    ];
    for (const act of acts) {
      const counted = driver.roundTripCount();
      const seen = neonLocal.requestCount();
      await act();
      expect({
        act: act.toString(),
        counted: driver.roundTripCount() - counted,
        seen: neonLocal.requestCount() - seen,
      }).toMatchObject({
        counted: 1,
        seen: 1,
      });
    }
  });
});
