import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { encodeTurns } from '../../src/adapters/postgres/turn-payload.ts';
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
import { type Session, useSessions } from './sessions.ts';
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
  /** A long transaction anywhere on the server keeps old versions alive, and other test files have some. */
  const TRIES_MAX = 10;

  const WRITES = `
SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
WHERE schemaname = 'stepwell' AND relname = 'task_instances'`;

  async function writesOf(
    session: Session,
    act: () => Promise<void>,
  ): Promise<{ updated: number; hot: number }> {
    const read = async () => {
      await session.rows('SELECT pg_stat_force_next_flush()');
      const [row] = await session.rows(WRITES);
      return { updated: Number(row?.['updated']), hot: Number(row?.['hot']) };
    };
    const before = await read();
    await act();
    const after = await read();
    return { updated: after.updated - before.updated, hot: after.hot - before.hot };
  }

  /** The best of some tries. */
  async function hotOf(session: Session, act: (round: number) => Promise<void>): Promise<number> {
    let best = 0;
    for (let round = 0; round < TRIES_MAX && best < STEPS * 0.95; round += 1) {
      const { updated, hot } = await writesOf(session, () => act(round));
      expect(updated).toBe(STEPS);
      best = Math.max(best, hot);
    }
    return best;
  }

  it('is one update of the instance, which is HOT, and one inserted row (RULINGS A29)', async () => {
    const session = await sessions.open();
    const claim = await startClaimed(session.store, { data: { order: 'A-1042', lines: [1, 2, 3] } });
    const hot = await hotOf(session, async (round) => {
      for (let n = 0; n < STEPS; n += 1) await commitOk(session.store, step(claim, round * STEPS + n));
    });
    // Not all: a snapshot that another session holds keeps dead versions on the page for a while. A cold update gives 0.
    expect(hot).toBeGreaterThanOrEqual(STEPS * 0.8);
  });

  it('stays HOT when the step changes the context and when many share a commit (RULINGS A29)', async () => {
    const session = await sessions.open();
    const claims: Claim[] = [];
    for (let index = 0; index < 20; index += 1) claims.push(await startClaimed(session.store));
    const hot = await hotOf(session, async (round) => {
      for (let n = 0; n < STEPS / 20; n += 1) {
        const rev = (round * STEPS) / 20 + n;
        const turns = claims.map((claim) => {
          const turn = step(claim, rev);
          return { ...turn, instance: { ...turn.instance, dataSet: { answer: { n: 1_000 + rev } } } };
        });
        const { verdicts } = await session.store.commit(turns);
        expect(verdicts.every(({ verdict }) => verdict === 'ok')).toBe(true);
      }
    });
    // Not all: a snapshot that another session holds keeps dead versions on the page for a while. A cold update gives 0.
    expect(hot).toBeGreaterThanOrEqual(STEPS * 0.8);
  });

  it('is some 800 bytes of write-ahead log, however long the run has been', async () => {
    const session = await sessions.open();
    const claim = await startClaimed(session.store);
    /** Bytes of one step's statement; others write to the same log at the same time. */
    const walOf = async (rev: number): Promise<number> => {
      const rows = await session.rows(
        'EXPLAIN (ANALYZE, WAL, FORMAT JSON) SELECT stepwell.commit_turn_v1($1::jsonb)',
        [encodeTurns([step(claim, rev)])],
      );
      return JSON.parse(JSON.stringify(rows[0]?.['QUERY PLAN']))[0].Plan['WAL Bytes'];
    };
    const walAt: number[] = [];
    for (let rev = 0; rev < 1_000; rev += 1) {
      if (rev % 100 === 50) walAt.push(await walOf(rev));
      else await commitOk(session.store, step(claim, rev));
    }
    // The median: a page that is cleaned up or split now and then costs more.
    expect(walAt.toSorted((a, b) => a - b)[5]).toBeLessThan(900);
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
