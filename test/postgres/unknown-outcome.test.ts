import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { systemClock } from '../../src/adapters/system.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { newInstance, nextId, row, turnOf } from '../support/turn-builder.ts';
import { claimRequest, commitOk, request, signalOf, start, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

/** Lost answers, refused requests, broken connections (RULINGS A8; reliability.md 3.2). */
describe('when the answer is lost', () => {
  const sessions = useSessions(MIGRATED);
  let neonLocal: NeonLocal | undefined;
  let store: Store | undefined;
  const open = (): { neon: NeonLocal; store: Store } => {
    if (neonLocal === undefined || store === undefined) throw new Error('both are open while tests run');
    return { neon: neonLocal, store };
  };

  beforeAll(async () => {
    neonLocal = await startNeonLocal();
    store = createPostgresStore(createNeonDriver({ connectionString: sessions.url, clock: systemClock }));
  });
  afterAll(async () => {
    await store?.close();
    await neonLocal?.close();
  });

  it('the outcome is unknown, and the same commit again says that it had landed (RULINGS A8)', async () => {
    const { neon, store } = open();
    const claim = await startClaimed(store);
    const turn = turnOf(claim, { rows: [row()], stepsDelta: 1 });
    neon.loseAnswers(1);
    await expect(store.commit([turn])).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: true });
    expect((await store.commit([turn])).verdicts).toEqual([{ verdict: 'already', granted: true, inbox: [] }]);
    expect(await store.getInstance(null, claim.instanceId)).toMatchObject({ rev: 1, totalSteps: 1 });
  });

  it('the same claim again answers what it holds (RULINGS A24)', async () => {
    const { neon, store } = open();
    const id = await start(store);
    const named = claimRequest(id);
    neon.loseAnswers(1);
    await expect(store.claimOne(named)).rejects.toMatchObject({ unknown: true });
    expect(await store.claimOne(named)).toMatchObject({
      status: 'claimed',
      claim: { epoch: 1, takenOver: false },
    });
    const due = [await start(store), await start(store)];
    const batch = request();
    neon.loseAnswers(1);
    await expect(store.claimDue(batch)).rejects.toMatchObject({ unknown: true });
    const { claims } = await store.claimDue(batch);
    expect(claims.map(({ instanceId, epoch }) => [instanceId, epoch])).toEqual(due.map((each) => [each, 1]));
  });

  it('the same start and the same signal again change nothing (RULINGS A36)', async () => {
    const { neon, store } = open();
    const instance = newInstance();
    const starting = { instances: [instance], onKnownKey: 'first' as const };
    neon.loseAnswers(1);
    await expect(store.start(starting)).rejects.toMatchObject({ unknown: true });
    expect(await store.start(starting)).toMatchObject({
      started: [{ id: instance.id, deduplicated: false }],
    });
    const signal = signalOf(instance.id);
    neon.loseAnswers(1);
    await expect(store.signal(signal)).rejects.toMatchObject({ unknown: true });
    expect(await store.signal(signal)).toMatchObject({ status: 'repeated' });
    expect((await store.getFrontier(null, instance.id))?.inbox).toHaveLength(1);
  });

  it('a request that nobody carried out is unknown as well when it was refused half way', async () => {
    const { neon, store } = open();
    neon.refuse(1, 502);
    await expect(store.ping()).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: true });
  });

  it('an error of the statement is no lost IO', async () => {
    const { store } = open();
    const claim = await startClaimed(store);
    const twice = turnOf(claim, { rows: [row(), row()] });
    await expect(store.commit([twice])).rejects.toMatchObject({ name: 'SqlError', code: '23505' });
    await commitOk(store, turnOf(claim, { rows: [row()] }));
  });
});

describe('when a connection breaks', () => {
  const sessions = useSessions(MIGRATED);

  it('the call under way is unknown, and the next one takes a fresh connection', async () => {
    const killer = await sessions.open();
    const blocker = await sessions.open();
    const driver = createPgDriver({ connectionString: sessions.url, poolSize: 2 });
    const store = createPostgresStore(driver);
    const claim = await startClaimed(store);
    await blocker.begin();
    await blocker.store.signal(signalOf(claim.instanceId));
    const turn = turnOf(claim, { rows: [row()] });
    const cut = store.commit([turn]).catch((error: unknown) => error);
    const waiting = `SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0`;
    for (let killed = 0; killed === 0; ) killed = (await killer.rows(waiting)).length;
    expect(await cut).toMatchObject({ name: 'StoreUnavailable', unknown: true });
    await blocker.commit();
    expect((await store.commit([turn])).verdicts).toMatchObject([{ verdict: 'ok', granted: false }]);
    await store.close();
  });

  it('a server that is not there is known to have done nothing', async () => {
    const driver = createPgDriver({
      connectionString: 'postgres://postgres@127.0.0.1:9/none',
      connectTimeoutMs: 2_000,
    });
    const store = createPostgresStore(driver);
    await expect(store.ping()).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: false });
    await store.close();
  });

  it('a pool with no free connection gives up without having done anything', async () => {
    const blocker = await sessions.open();
    const driver = createPgDriver({ connectionString: sessions.url, poolSize: 1, connectTimeoutMs: 100 });
    const store = createPostgresStore(driver);
    const claim = await startClaimed(store);
    await blocker.begin();
    await blocker.store.signal(signalOf(claim.instanceId));
    const first = store.commit([turnOf(claim, { rows: [row()] })]);
    await expect(store.ping()).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: false });
    await blocker.commit();
    await first;
    await store.close();
  });

  it('a statement that is stopped by its time-out has done nothing', async () => {
    const driver = createPgDriver({ connectionString: sessions.url, poolSize: 1 });
    await driver.query('SET statement_timeout = 200', []);
    const blocker = await sessions.open();
    const store = createPostgresStore(driver);
    const claim = await startClaimed(store);
    await blocker.begin();
    await blocker.store.signal(signalOf(claim.instanceId));
    await expect(store.commit([turnOf(claim, { rows: [row()] })])).rejects.toMatchObject({
      name: 'StoreUnavailable',
      unknown: false,
    });
    await blocker.commit();
    expect(await store.getInstance(null, claim.instanceId)).toMatchObject({ rev: 0 });
    await store.close();
  });

  it('a connection to a server that only reads now is given up for one that writes', async () => {
    const driver = createPgDriver({ connectionString: sessions.url, poolSize: 1 });
    const store = createPostgresStore(driver);
    const claim = await startClaimed(store);
    await driver.query('SET default_transaction_read_only = on', []);
    const turn = turnOf(claim, { rows: [row()] });
    await expect(store.commit([turn])).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: false });
    expect((await store.commit([turn])).verdicts).toMatchObject([{ verdict: 'ok' }]);
    await store.close();
  });

  it('what the database undid for a deadlock is sent again, but not for ever', async () => {
    const session = await sessions.open();
    // A sequence is not undone with the transaction, so the function knows how often it was called.
    await session.rows('CREATE SEQUENCE public.calls');
    await session.rows(`
CREATE FUNCTION public.deadlocks(times integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('public.calls') <= times THEN
    RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01';
  END IF;
  RETURN times;
END $$`);
    const driver = createPgDriver({ connectionString: sessions.url, poolSize: 1 });
    expect(await driver.query('SELECT public.deadlocks($1)', [3])).toEqual([[3]]);
    expect(driver.roundTripCount()).toBe(4);
    await session.rows('ALTER SEQUENCE public.calls RESTART');
    await expect(driver.query('SELECT public.deadlocks($1)', [99])).rejects.toMatchObject({ code: '40P01' });
    expect(driver.roundTripCount()).toBe(8);
    await driver.close();
  });

  it('ids that are no UUIDs name nothing', async () => {
    const { store } = await sessions.open();
    expect(await store.getInstance(null, 'not-a-uuid')).toBeNull();
    expect(await store.getFrontier(null, "'; DROP SCHEMA stepwell")).toBeNull();
    expect(await store.signal(signalOf('x'))).toEqual({ status: 'not_found' });
    expect(await store.claimOne(claimRequest('x'))).toMatchObject({ status: 'not_found' });
    expect(await store.getSequence(null, nextId().slice(1))).toBeNull();
    expect(await store.deleteSequence(null, '')).toBe('not_found');
  });
});
