import pg from 'pg';
import { sha256Hex } from '../../../core/digest.ts';
import type { Clock } from '../../../ports/system.ts';
import { systemClock } from '../../system.ts';
import { NotConnected, notConnected } from '../connection/not-connected.ts';
import {
  type PgConnectionOptions,
  type PgSettings,
  pgSettingsOf,
  TIME_OUTS,
} from '../connection/pg-settings.ts';
import {
  createSqlDriver,
  endsConnection,
  type SqlDriver,
  SqlError,
  type SqlRows,
  type SqlSession,
  type SqlStatement,
  type SqlTransport,
  toStoreError,
} from '../driver.ts';
import { lastRows } from '../rows.ts';

export interface PgDriverOptions extends PgConnectionOptions {
  /** Connections of the pool. Default 10. */
  readonly poolSize?: number;
  /** How long to wait for a connection, milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** A statement that is not answered by then is given up, milliseconds. Default 15000: the database gives up first. */
  readonly requestTimeoutMs?: number;
  /** How long a call waits for a database that starts, wakes up or is full, milliseconds. Default 0. */
  readonly waitForDatabaseMs?: number;
  readonly clock?: Pick<Clock, 'after' | 'monotonicMs' | 'nowMs'>;
}

type PgClock = NonNullable<PgDriverOptions['clock']>;

/** A connection that was idle for longer is asked whether it still lives; a frozen process does not see it end. */
const TRUSTED_IDLE_MS = 2_000;
const PROBE_TIMEOUT_MS = 2_000;

/**
 * The driver for plain PostgreSQL servers, over the package `pg`, also through poolers that lend connections for one
 * transaction. Options that describe no connection reject all calls, with what to do.
 */
export function createPgDriver(options: PgDriverOptions): SqlDriver {
  const { clock = systemClock, waitForDatabaseMs = 0 } = options;
  const settings = pgSettingsOf(options);
  const transport = settings.ok
    ? createPgTransport(settings.value, options, clock)
    : unusableTransport(settings.error);
  return createSqlDriver(transport, { clock, waitForDatabaseMs });
}

function unusableTransport(problem: string): SqlTransport {
  const refuse = () => Promise.reject(new NotConnected(problem, { isPassing: false, code: null }));
  return { send: refuse, openSession: refuse, close: () => Promise.resolve() };
}

/** A pool, and how it is spoken through. */
interface Link {
  readonly pool: pg.Pool;
  /** Nothing outlives a transaction: no settings of a session, no names of statements. */
  readonly isShared: boolean;
  /** When the connection was last of use, by both clocks: one of them may stand still while the process is frozen. */
  readonly lastUse: WeakMap<pg.PoolClient, { readonly wallMs: number; readonly monotonicMs: number }>;
}

function createPgTransport(settings: PgSettings, options: PgDriverOptions, clock: PgClock): SqlTransport {
  const { startup, base, secrets } = settings;
  const links = [openLink(options, startup ?? base, startup === null)];
  const current = (): Link => links.at(-1) ?? openLink(options, base, true);

  const send = async (statements: readonly SqlStatement[]): Promise<readonly SqlRows[]> => {
    const used = current();
    try {
      return await sendThrough(used, statements, { clock, secrets });
    } catch (error) {
      if (used.isShared || !speaksOfPooler(error)) throw error;
      // Whoever notices first changes over; connections of the pool before end when they have been idle for a while.
      if (current() === used) links.push(openLink(options, base, true));
      return send(statements);
    }
  };
  return {
    send,
    openSession: () => openPgSession(base, secrets),
    async close() {
      await Promise.all(links.map(({ pool }) => pool.end()));
    },
  };
}

function openLink(options: PgDriverOptions, config: pg.PoolConfig, isShared: boolean): Link {
  const pool = new pg.Pool({
    ...config,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    query_timeout: options.requestTimeoutMs ?? 15_000,
    // Several statements of one transaction leave in one go and cost one round trip.
    pipeline: true,
  });
  // An idle connection that breaks is replaced by the pool, one in use fails its statements; without a listener either
  // would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return { pool, isShared, lastUse: new WeakMap() };
}

/**
 * True for what poolers answer to those who think the connection is theirs: settings at start-up are refused, a prepared
 * statement is unknown (26000) or there already (42P05). Nothing was carried out in either case.
 */
function speaksOfPooler(error: unknown): boolean {
  if (error instanceof SqlError) return error.code === '26000' || error.code === '42P05';
  if (!(error instanceof NotConnected)) return false;
  const refused = /startup parameter|command-line options|idle_session_timeout/i;
  return refused.test(error.message);
}

interface Around {
  readonly clock: PgClock;
  readonly secrets: readonly string[];
}

async function sendThrough(
  link: Link,
  statements: readonly SqlStatement[],
  { clock, secrets }: Around,
): Promise<readonly SqlRows[]> {
  const client = await livingClient(link, clock, secrets);
  let broken: Error | undefined;
  try {
    return await sendOn(client, statements, link.isShared);
  } catch (error) {
    const mapped = toStoreError(error, true);
    if (endsConnection(mapped)) broken = mapped;
    throw mapped;
  } finally {
    link.lastUse.set(client, { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
    client.release(broken);
  }
}

/** A connection of the pool that answers. One that died while nobody looked is found out before anything is sent over it. */
async function livingClient(
  { pool, lastUse }: Link,
  clock: PgClock,
  secrets: readonly string[],
): Promise<pg.PoolClient> {
  for (;;) {
    const client = await connect(pool, secrets);
    const last = lastUse.get(client);
    const idleMs =
      last === undefined ? 0 : Math.max(clock.nowMs() - last.wallMs, clock.monotonicMs() - last.monotonicMs);
    if (idleMs <= TRUSTED_IDLE_MS) return client;
    try {
      const probe = { text: 'SELECT 1', query_timeout: PROBE_TIMEOUT_MS };
      await client.query(probe);
      return client;
    } catch (error) {
      client.release(error instanceof Error ? error : true);
    }
  }
}

async function connect(pool: pg.Pool, secrets: readonly string[]): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw notConnected(error, secrets);
  }
}

/** Without a transaction around it a lone statement commits by itself; several are wrapped and sent in one flight. */
async function sendOn(
  client: pg.PoolClient,
  statements: readonly SqlStatement[],
  isShared: boolean,
): Promise<readonly SqlRows[]> {
  const queries = statements.map((statement) => queryOf(statement, isShared));
  const [only] = queries;
  if (queries.length === 1 && only !== undefined) return [(await client.query(only)).rows];
  const flight = [
    client.query(isShared ? BEGIN_SHARED : 'BEGIN'),
    ...queries.map((query) => client.query(query)),
    client.query('COMMIT'),
  ] as const;
  // All answers are awaited before the connection is given back; the first failure is the one that tells why.
  const settled = await Promise.allSettled(flight);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return settled.slice(1, -1).flatMap((result) => (result.status === 'fulfilled' ? [result.value.rows] : []));
}

/** The time-outs hold until the end of the transaction, so they cost nothing where there is one anyway. */
const BEGIN_SHARED = `BEGIN; SELECT ${Object.entries(TIME_OUTS)
  .map(([name, ms]) => `set_config('${name}', '${ms}', true)`)
  .join(', ')}`;

function queryOf({ text, params, prepared }: SqlStatement, isShared: boolean): pg.QueryArrayConfig {
  const name = prepared && !isShared ? { name: statementName(text) } : {};
  return { text, values: [...params], rowMode: 'array', ...name };
}

const names = new Map<string, string>();

/**
 * A name that no other text has, in any process: a pooler that is not known for one may hand us a connection on which
 * somebody else has prepared something.
 */
function statementName(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `stepwell_${sha256Hex(text).slice(0, 32)}`;
  names.set(text, name);
  return name;
}

async function openPgSession(config: pg.ClientConfig, secrets: readonly string[]): Promise<SqlSession> {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw notConnected(error, secrets);
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
