import pg from 'pg';
import { StoreUnavailable } from '../../../ports/store/store.ts';
import {
  type SqlDriver,
  type SqlRows,
  type SqlSession,
  type SqlStatement,
  type SqlTransport,
  createSqlDriver,
  endsConnection,
  toStoreError,
} from '../driver.ts';
import { lastRows } from '../rows.ts';

export interface PgDriverOptions {
  readonly connectionString: string;
  /** Connections of the pool. Default 10. */
  readonly poolSize?: number;
  /** False behind a pooler that keeps no prepared statements. Default true. */
  readonly prepare?: boolean;
  /**
   * Session time-outs (statement 10 s, lock 2 s, idle in transaction 5 s), sent with the connection. A pooler refuses
   * them; there they belong to the login role. Default true.
   */
  readonly sessionTimeouts?: boolean;
  /** How long to wait for a connection, milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
}

const SESSION_TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 5_000,
} as const;

/** The driver for plain PostgreSQL servers, over the package `pg`. */
export function createPgDriver(options: PgDriverOptions): SqlDriver {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    // Several statements of one transaction leave in one go and cost one round trip.
    pipeline: true,
    ...(options.sessionTimeouts === false ? {} : SESSION_TIMEOUTS),
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return createSqlDriver(createPgTransport(pool, options));
}

function createPgTransport(pool: pg.Pool, options: PgDriverOptions): SqlTransport {
  const nameOf = createStatementNames();
  const prepare = options.prepare ?? true;

  const queryOf = (statement: SqlStatement): pg.QueryArrayConfig => ({
    text: statement.text,
    values: [...statement.params],
    rowMode: 'array',
    ...(prepare && statement.prepared ? { name: nameOf(statement.text) } : {}),
  });

  return {
    async send(statements) {
      const client = await connect(pool);
      let broken: Error | undefined;
      try {
        return await sendOn(client, statements.map(queryOf));
      } catch (error) {
        const mapped = toStoreError(error, true);
        if (endsConnection(mapped)) broken = mapped;
        throw mapped;
      } finally {
        client.release(broken);
      }
    },
    openSession: () => openPgSession(options.connectionString),
    close: () => pool.end(),
  };
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    const mapped = toStoreError(error, false);
    throw mapped instanceof StoreUnavailable
      ? mapped
      : new StoreUnavailable(mapped.message, { unknown: false, cause: error });
  }
}

/** Without a transaction around it a lone statement commits by itself; several are wrapped and sent in one flight. */
async function sendOn(
  client: pg.PoolClient,
  queries: readonly pg.QueryArrayConfig[],
): Promise<readonly SqlRows[]> {
  const [only] = queries;
  if (queries.length === 1 && only !== undefined) return [(await client.query(only)).rows];
  const flight = [
    client.query('BEGIN'),
    ...queries.map((query) => client.query(query)),
    client.query('COMMIT'),
  ] as const;
  // All answers are awaited before the connection is given back; the first failure is the one that tells why.
  const settled = await Promise.allSettled(flight);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return settled.slice(1, -1).flatMap((result) => (result.status === 'fulfilled' ? [result.value.rows] : []));
}

async function openPgSession(connectionString: string): Promise<SqlSession> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw toStoreError(error, false);
  }
  return {
    async run(text) {
      try {
        return lastRows(await client.query({ text, rowMode: 'array' }));
      } catch (error) {
        throw toStoreError(error, true);
      }
    },
    end: () => client.end(),
  };
}

/** A short, stable name per text: one connection prepares each text once. */
function createStatementNames(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = `stepwell_${names.size + 1}`;
    names.set(text, name);
    return name;
  };
}
