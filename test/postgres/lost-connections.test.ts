import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPgDriver, type PgDriverOptions } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { systemClock } from '../../src/adapters/system.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { row, TENANT, turnOf } from '../support/turn-builder.ts';
import { startWireTap, type WireMessage, type WireTap } from '../support/wire-tap.ts';
import { claimRequest, start, startClaimed } from './acts.ts';
import { MIGRATED } from './store-database.ts';

let databaseUrl: string;
let tap: WireTap;
let store: Store | null = null;
/** What a test adds to the time that passes by itself. */
let frozenMs = 0;

beforeAll(async () => {
  databaseUrl = (await createTestDatabase(MIGRATED)).url;
});
beforeEach(async () => {
  tap = await startWireTap(databaseUrl);
  frozenMs = 0;
});
afterEach(async () => {
  await store?.close();
  store = null;
  await tap.close();
});
afterAll(() => {});

/** As a function opens it: one connection, and a wall clock that goes on while the process stands still. */
function open(options: Partial<PgDriverOptions> = {}): Store {
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + frozenMs };
  const driver = createPgDriver({ connectionString: tap.url, poolSize: 1, clock, ...options });
  store = createPostgresStore(driver);
  return store;
}

const isCommit = (message: WireMessage): boolean =>
  message.kind === 'parse' && message.text.includes('stepwell.commit');

describe('a connection that died while nobody looked', () => {
  it('is found out before anything is sent over it, so a write costs no attempt', async () => {
    const thawed = open();
    const claim = await startClaimed(thawed);
    tap.cutAll();
    frozenMs = 600_000;
    const turn = turnOf(claim, { rows: [row()], stepsDelta: 1 });
    expect((await thawed.commit([turn])).verdicts).toMatchObject([{ verdict: 'ok' }]);
    expect(tap.connectionCount()).toBe(2);
  });

  it('whose peer says nothing at all is given up as well', async () => {
    const thawed = open();
    await thawed.ping();
    frozenMs = 600_000;
    tap.cutAt('after', ({ kind }) => kind === 'query');
    await thawed.ping();
    expect(tap.connectionCount()).toBe(2);
  });

  it('that lives is used on', async () => {
    const thawed = open();
    await thawed.ping();
    frozenMs = 600_000;
    await thawed.ping();
    expect(tap.connectionCount()).toBe(1);
  });
});

describe('a connection that breaks under a statement', () => {
  it('does not end the process, and the next call takes another one', async () => {
    const cut = open();
    await cut.ping();
    tap.cutAt('before', ({ kind }) => kind === 'bind');
    await expect(cut.ping()).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: true });
    expect((await cut.ping()).schemaVersion).toBeGreaterThan(0);
  });

  it.each(['before', 'after'] as const)('%s a read was carried out: it is asked once more', async (cut) => {
    const store = open();
    const { instanceId } = await startClaimed(store);
    const isRead = (message: WireMessage): boolean =>
      message.kind === 'parse' && message.text.includes('instance_view');
    tap.cutAt(cut, isRead);
    expect(await store.getInstance(TENANT, instanceId)).toMatchObject({ id: instanceId });
    tap.cutAt(cut, (message) => message.kind === 'parse' && message.text.includes('"block_outputs"'));
    expect(await store.listOutputs(TENANT, instanceId, { node: true, retry: true })).toEqual([]);
    expect(tap.connectionCount()).toBe(3);
  });

  it('before the server saw the commit: the same commit again applies', async () => {
    const cut = open();
    const claim = await startClaimed(cut);
    const turn = turnOf(claim, { rows: [row()], stepsDelta: 1 });
    tap.cutAt('before', isCommit);
    await expect(cut.commit([turn])).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: true });
    expect((await cut.commit([turn])).verdicts).toMatchObject([{ verdict: 'ok' }]);
    expect(await cut.getInstance(null, claim.instanceId)).toMatchObject({ rev: 1, totalSteps: 1 });
  });

  it('after the server had committed: the same commit again says that it had landed', async () => {
    const cut = open();
    const claim = await startClaimed(cut);
    const turn = turnOf(claim, { rows: [row()], stepsDelta: 1 });
    tap.cutAt('after', isCommit);
    await expect(cut.commit([turn])).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: true });
    expect((await cut.commit([turn])).verdicts).toMatchObject([{ verdict: 'already' }]);
    expect(await cut.getInstance(null, claim.instanceId)).toMatchObject({ rev: 1, totalSteps: 1 });
  });

  it('after a claim was made: the same claim again answers what it holds (RULINGS A24)', async () => {
    const cut = open();
    const id = await start(cut);
    const request = claimRequest(id);
    tap.cutAt('after', (message) => message.kind === 'parse' && message.text.includes('stepwell.claim'));
    await expect(cut.claimOne(request)).rejects.toMatchObject({ unknown: true });
    expect(await cut.claimOne(request)).toMatchObject({ status: 'claimed', claim: { epoch: 1 } });
  });
});

describe('a database that wakes up', () => {
  const answers = [
    ['nobody answers', null],
    ['it says that it starts', { code: '57P03', message: 'the database system is starting up' }],
    ['it is full', { code: '53300', message: 'sorry, too many clients already' }],
  ] as const;

  it.each(answers)('costs no attempt when %s three times', async (_what, answer) => {
    const waiting = open({ waitForDatabaseMs: 10_000 });
    tap.refuse(3, answer);
    expect((await waiting.ping()).schemaVersion).toBeGreaterThan(0);
    expect(tap.connectionCount()).toBe(4);
  });

  it.each(answers)('has done nothing when %s and nobody waits for it', async (_what, answer) => {
    const impatient = open();
    tap.refuse(1, answer);
    await expect(impatient.ping()).rejects.toMatchObject({ name: 'StoreUnavailable', unknown: false });
  });

  it('whose name is not known is waited for, but not for ever', async () => {
    const lost = open({
      connectionString: 'postgres://u:p@nowhere.invalid/db?sslmode=disable',
      waitForDatabaseMs: 60,
    });
    await expect(lost.ping()).rejects.toMatchObject({
      unknown: false,
      message: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
  });
});
