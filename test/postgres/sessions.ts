import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createSqlDriver, toStoreError } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import {
  type DatabaseTemplate,
  type TestDatabase,
  createTestDatabase,
} from '../support/postgres-database.ts';

/**
 * One connection whose transactions the test opens and ends, so that two of them can be stepped statement by statement.
 * Its store sends every operation as it would be sent in production, but inside the open transaction.
 */
export interface Session {
  readonly store: Store;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  rows(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Resolves once this session waits for a lock of another one. Rejects when it never does. */
  untilBlocked(): Promise<void>;
  end(): Promise<void>;
}

export interface Sessions {
  open(): Promise<Session>;
  readonly url: string;
  /** Deadlocks that the server has broken in this database. */
  deadlockCount(): Promise<number>;
}

const POLLS_MAX = 5_000;

/** A session on any database, with a connection beside it that watches it. */
export async function openSession(url: string): Promise<Session> {
  const control = new pg.Client({ connectionString: url });
  await control.connect();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = found.rows[0]?.pid;
  return {
    store: storeOn(client),
    begin: async () => void (await client.query('BEGIN')),
    commit: async () => void (await client.query('COMMIT')),
    rollback: async () => void (await client.query('ROLLBACK')),
    rows: async (text, values = []) => (await client.query(text, [...values])).rows,
    async untilBlocked() {
      for (let poll = 0; poll < POLLS_MAX; poll += 1) {
        const { rows } = await control.query('SELECT cardinality(pg_blocking_pids($1)) > 0 AS blocked', [
          pid,
        ]);
        if (rows[0]?.blocked === true) return;
      }
      throw new Error('The session did not wait for anybody.');
    },
    async end() {
      await client.end();
      await control.end();
    },
  };
}

function storeOn(client: pg.Client): Store {
  return createPostgresStore(
    createSqlDriver({
      async send(statements) {
        try {
          const all: unknown[][][] = [];
          for (const { text, params } of statements) {
            all.push((await client.query({ text, values: [...params], rowMode: 'array' })).rows);
          }
          return all;
        } catch (error) {
          throw toStoreError(error, true);
        }
      },
      openSession: () => Promise.reject(new Error('not in these tests')),
      close: () => Promise.resolve(),
    }),
  );
}

/** A database for the file, and sessions that end with the test that opened them. */
export function useSessions(template: DatabaseTemplate): Sessions {
  let database: TestDatabase | undefined;
  let control: pg.Client | undefined;
  const opened: Session[] = [];
  const connected = (): { database: TestDatabase; control: pg.Client } => {
    if (database === undefined || control === undefined)
      throw new Error('The database is there while tests run.');
    return { database, control };
  };
  beforeAll(async () => {
    database = await createTestDatabase(template);
    control = new pg.Client({ connectionString: database.url });
    await control.connect();
  });
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.end();
  });
  afterAll(async () => {
    await control?.end();
    await database?.drop();
  });
  return {
    async open() {
      const session = await openSession(connected().database.url);
      opened.push(session);
      return session;
    },
    get url() {
      return connected().database.url;
    },
    async deadlockCount() {
      const { rows } = await connected().control.query(
        'SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0]?.count;
    },
  };
}
