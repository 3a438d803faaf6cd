import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPgDriver, type PgDriverOptions } from '../../src/adapters/postgres/drivers/pg.ts';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { row, TENANT, turnOf } from '../support/turn-builder.ts';
import { startWireTap, type WireTap } from '../support/wire-tap.ts';
import { commitOk, signalOf, startClaimed } from './acts.ts';
import { MIGRATED } from './store-database.ts';

let databaseUrl: string;
let tap: WireTap;
let driver: SqlDriver | null = null;

beforeAll(async () => {
  databaseUrl = (await createTestDatabase(MIGRATED)).url;
});
beforeEach(async () => {
  tap = await startWireTap(databaseUrl);
});
afterEach(async () => {
  await driver?.close();
  driver = null;
  await tap.close();
});

function open(options: Partial<PgDriverOptions> = {}): SqlDriver {
  driver = createPgDriver({ connectionString: tap.url, poolSize: 2, ...options });
  return driver;
}

/** A little of everything: hot functions, reads of a tenant, lists by drizzle, a transaction, a repetition. */
async function useStore(opened: SqlDriver): Promise<void> {
  const store = createPostgresStore(opened);
  const claim = await startClaimed(store);
  await store.signal(signalOf(claim.instanceId));
  await commitOk(store, turnOf(claim, { rows: [row()] }));
  expect(await store.getInstance(TENANT, claim.instanceId)).toMatchObject({ rev: 1 });
  expect(await store.listOutputs(TENANT, claim.instanceId, { node: true, retry: true })).toHaveLength(1);
  await Promise.all([1, 2, 3, 4].map(() => startClaimed(store)));
}

const startups = () =>
  tap.messages.flatMap((message) => (message.kind === 'startup' ? [message.params] : []));
const statements = () =>
  tap.messages.flatMap((message) =>
    message.kind === 'query' || message.kind === 'parse' ? [message.text] : [],
  );
const preparedNames = () =>
  tap.messages.flatMap((message) =>
    (message.kind === 'parse' || message.kind === 'bind') && message.name !== '' ? [message.name] : [],
  );

function expectNothingOutlivesTransactions(): void {
  const allowed = ['user', 'database', 'client_encoding', 'application_name'];
  for (const params of startups()) {
    expect(Object.keys(params).filter((name) => name !== '' && !allowed.includes(name))).toEqual([]);
  }
  expect(preparedNames()).toEqual([]);
  const ofSessions = /\b(SET\s+(?!LOCAL)|LISTEN|PREPARE|DECLARE|pg_(try_)?advisory_lock)\b/i;
  expect(statements().filter((text) => ofSessions.test(text))).toEqual([]);
  expect(statements().filter((text) => /set_config\([^)]*,\s*false\s*\)/i.test(text))).toEqual([]);
}

describe('through a pooler that lends connections for one transaction', () => {
  it('nothing is set at start-up, prepared under a name, or kept in a session', async () => {
    await useStore(open({ pooler: 'transaction' }));
    expectNothingOutlivesTransactions();
    expect(statements().length).toBeGreaterThan(8);
  });

  it.each(['?pgbouncer=true', '?sslmode=disable&pgbouncer=true'])('is known by %s', async (query) => {
    await useStore(open({ connectionString: `${tap.url}${query}` }));
    expectNothingOutlivesTransactions();
  });

  it('each transaction brings its time-outs along, and leaves none behind', async () => {
    const opened = open({ pooler: 'transaction', poolSize: 1 });
    const shown = 'SELECT current_setting($1)';
    const read = (name: string) => ({ text: shown, params: [name], prepared: true });
    expect(await opened.transact([read('lock_timeout'), read('statement_timeout')])).toEqual([['10s']]);
    expect(await opened.query(shown, ['statement_timeout'])).toEqual([['0']]);
  });

  it.each([
    ['08P01', 'unsupported startup parameter: statement_timeout'],
    ['0A000', "Feature not supported: RDS Proxy currently doesn't support command-line options."],
  ])('is noticed by what it refuses (%s)', async (code, message) => {
    const refused = (params: object) => 'statement_timeout' in params || 'options' in params;
    tap.refuseStartup(refused, code, message);
    const opened = open({ idleSessionMs: 60_000 });
    await useStore(opened);
    tap.clear();
    await useStore(opened);
    expectNothingOutlivesTransactions();
  });

  it('is noticed by a prepared statement that it has forgotten', async () => {
    const opened = open({ poolSize: 1 });
    await useStore(opened);
    await opened.query('DEALLOCATE ALL', []);
    await useStore(opened);
    tap.clear();
    await useStore(opened);
    expectNothingOutlivesTransactions();
  });

  it('migrations hold their lock for one transaction', async () => {
    const { url } = await createTestDatabase();
    await tap.close();
    tap = await startWireTap(url);
    await migrate(open({ pooler: 'transaction' }));
    expect(startups().flatMap((params) => Object.keys(params))).not.toContain('options');
    expect(statements().filter((text) => text.includes('pg_advisory_lock('))).toEqual([]);
    expect(statements().filter((text) => text.includes('pg_advisory_xact_lock('))).not.toEqual([]);
  });
});

describe('through a connection of its own', () => {
  it('time-outs come with the start, and each text is prepared once', async () => {
    await useStore(open({ poolSize: 1 }));
    expect(startups()).toMatchObject([{ statement_timeout: '10000', lock_timeout: '2000' }]);
    const parsed = tap.messages.flatMap((message) =>
      message.kind === 'parse' && message.name !== '' ? [message.name] : [],
    );
    expect(parsed.length).toBeGreaterThan(2);
    expect(new Set(parsed).size).toBe(parsed.length);
  });

  it('the name of a prepared statement says which text it is, in every process', async () => {
    const namesAfter = async (...texts: readonly string[]) => {
      const opened = createPgDriver({ connectionString: tap.url, poolSize: 1 });
      tap.clear();
      for (const text of texts) await opened.query(text, []);
      await opened.close();
      return Object.fromEntries(
        tap.messages.flatMap((message) => (message.kind === 'parse' ? [[message.text, message.name]] : [])),
      );
    };
    const forth = await namesAfter('SELECT 1', 'SELECT 2');
    expect(await namesAfter('SELECT 2', 'SELECT 1')).toEqual(forth);
    expect(new Set(Object.values(forth)).size).toBe(2);
  });

  it('the server ends it when it was idle for long, whatever becomes of the process', async () => {
    const opened = open({ connectionString: `${tap.url}?options=-c%20jit%3Doff`, idleSessionMs: 60_000 });
    const read = await opened.query(
      "SELECT current_setting('idle_session_timeout'), current_setting('jit')",
      [],
    );
    expect(read).toEqual([['1min', 'off']]);
  });
});
