import { StoreUnavailable } from '../../ports/store/store.ts';
import type { Clock } from '../../ports/system.ts';
import { hideSecrets, NotConnected } from './connection/not-connected.ts';
import { misfitOf, PING } from './misfit.ts';
import { SqlError } from './sql-error.ts';

export { SqlError };

/** What a statement may be given. Lists and objects travel as JSON text (`$1::jsonb`), which every driver treats alike. */
export type SqlParam = string | number | boolean | null;

/** Rows as arrays, in the order of the selected columns; columns of type json and jsonb are parsed. */
export type SqlRows = readonly (readonly unknown[])[];

export interface SqlStatement {
  readonly text: string;
  readonly params: readonly SqlParam[];
  /** Statements with a fixed text are prepared once per connection where the driver can. */
  readonly prepared: boolean;
}

/** One library's way to a database. It carries bytes and knows nothing of Stepwell. */
export interface SqlTransport {
  /** Carries the statements out in one transaction and one round trip; answers the rows of each. */
  send(statements: readonly SqlStatement[]): Promise<readonly SqlRows[]>;
  /** A connection of its own, for migrations: texts may hold several statements. */
  openSession(): Promise<SqlSession>;
  close(): Promise<void>;
}

export interface SqlSession {
  run(text: string): Promise<SqlRows>;
  end(): Promise<void>;
}

/** The way of the store to its database. Every round trip is counted here and nowhere else, also one that failed. */
export interface SqlDriver {
  /** One prepared statement, one round trip. */
  query(text: string, params: readonly SqlParam[]): Promise<SqlRows>;
  /**
   * One statement under row-level security, one round trip: as the app role with this tenant, or with null as the engine
   * role, which sees all tenants. The role holds for this statement only.
   */
  tenantQuery(tenantId: string | null, text: string, params: readonly SqlParam[]): Promise<SqlRows>;
  /** Several statements in one transaction and one round trip; answers the rows of the last. */
  transact(statements: readonly SqlStatement[]): Promise<SqlRows>;
  openSession(): Promise<SqlSession>;
  roundTripCount(): number;
  close(): Promise<void>;
}

const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export interface SqlDriverOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /**
   * How long a call waits for a database that starts, wakes up or is full, in ms. Nothing has left this process meanwhile, so
   * it costs nobody an attempt. 0: not at all.
   */
  readonly waitForDatabaseMs: number;
}

/**
 * Reads of the API go through indexes whatever the statistics of the hour say, as the hot functions do; a scan that is the only
 * way stays possible, and its penalty must not start the compiler.
 */
const AS_TENANT = `
SELECT set_config('role', $1, true), set_config('stepwell.tenant', $2, true),
  set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;

/** From here to the end of the transaction: as the app role with this tenant, or with null as the engine role. */
export function asTenant(tenantId: string | null): SqlStatement {
  const params = [tenantId === null ? 'stepwell_engine' : 'stepwell_app', tenantId ?? ''];
  return { text: AS_TENANT, params, prepared: true };
}

/**
 * Wraps a transport: counts round trips, repeats what the database itself undid (deadlock, serialization) and reads whose
 * answers were lost, and waits for a database that is about to answer.
 */
export function createSqlDriver(transport: SqlTransport, options?: SqlDriverOptions): SqlDriver {
  let roundTrips = 0;

  const sendOnce = (statements: readonly SqlStatement[]): Promise<readonly SqlRows[]> => {
    roundTrips += 1;
    return transport.send(statements);
  };
  const send = async (statements: readonly SqlStatement[]): Promise<SqlRows> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await onceConnected(() => sendOnce(statements), options)).at(-1) ?? [];
      } catch (error) {
        if (attempt < TRIES_MAX && wasUndone(error)) continue;
        if (attempt === 1 && wasLost(error) && statements.every(onlyReads)) continue;
        throw statements.at(-1)?.text === PING ? error : await misfitOf(error, () => readVersion(sendOnce));
      }
    }
  };

  return {
    query: (text, params) => send([{ text, params, prepared: true }]),
    tenantQuery: (tenantId, text, params) => send([asTenant(tenantId), { text, params, prepared: false }]),
    transact: send,
    async openSession() {
      const session = await onceConnected(() => transport.openSession(), options);
      return {
        run(text) {
          roundTrips += 1;
          return session.run(text);
        },
        end: () => session.end(),
      };
    },
    roundTripCount: () => roundTrips,
    close: () => transport.close(),
  };
}

async function readVersion(send: SqlTransport['send']): Promise<number> {
  const answers = await send([{ text: PING_VERSION, params: [], prepared: false }]);
  return Number(answers[0]?.[0]?.[0]);
}

const PING_VERSION = "SELECT (stepwell.ping_v1() ->> 'schemaVersion')::integer";

/** Calls again, with growing pauses, while the connection could not be made for a reason that passes. */
async function onceConnected<T>(call: () => Promise<T>, options: SqlDriverOptions | undefined): Promise<T> {
  const untilMs = options === undefined ? 0 : options.clock.monotonicMs() + options.waitForDatabaseMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      const waits = error instanceof NotConnected && error.isPassing;
      if (options === undefined || !waits || options.clock.monotonicMs() + pauseMs > untilMs) throw error;
    }
    const { clock } = options;
    await new Promise<void>((resume) => {
      clock.after(pauseMs, resume);
    });
  }
}

/** The connection broke, so nobody knows whether the statement was carried out. */
function wasLost(error: unknown): boolean {
  if (error instanceof SqlError) return UNKNOWN.test(error.code);
  return error instanceof StoreUnavailable && error.unknown;
}

/**
 * Sure of what it says yes to: a statement that begins as a read, has no word of a writing one, and calls none of the functions
 * with a version in their names, which is how all that write are named. It may be asked again when its answer was lost.
 */
function onlyReads({ text }: SqlStatement): boolean {
  if (text === AS_TENANT) return true;
  return /^\s*(select|with)\b/i.test(text) && !/\b(insert|update|delete|merge)\b|_v\d+\(/i.test(text);
}

/** 40P01 deadlock, 40001 serialization: nothing was applied, the same bytes may be sent again. */
function wasUndone(error: unknown): boolean {
  return error instanceof SqlError && (error.code === '40P01' || error.code === '40001');
}

/** SQLSTATE classes that speak of the connection or the server's state rather than of the statement. */
const UNAVAILABLE = /^(08|53|57|58|25006|25P03|55P03|40)/;
/** After these the server may have committed before the connection was lost; poolers say 08P01 of a server that broke off. */
const UNKNOWN = /^(08|57P0[1245])/;

/**
 * What a transport throws for a failed call: StoreUnavailable when the database was not reached or gave up, SqlError
 * when it answered with an error of the statement. `sent` tells whether the statement had left this process; `secrets` are
 * left out of what a library tells.
 */
export function toStoreError(error: unknown, sent: boolean, secrets: readonly string[] = []): Error {
  if (error instanceof StoreUnavailable || error instanceof SqlError) return error;
  const { code, constraint, message } = describeDatabaseError(error);
  if (code === null) {
    const shown = hideSecrets(message, secrets);
    // A cause is shown with its own text wherever an error is shown as a whole.
    return new StoreUnavailable(shown, { unknown: sent, ...(shown === message ? { cause: error } : {}) });
  }
  return new SqlError(message, { code, constraint, cause: error });
}

/** An SqlError that the caller has no answer for: the database can not now. Others pass unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof SqlError) || !UNAVAILABLE.test(error.code)) return error;
  return new StoreUnavailable(`${error.message} (${error.code})`, {
    unknown: UNKNOWN.test(error.code),
    cause: error,
  });
}

/**
 * True when the connection that gave this error is of no use any more, whether it said so or just broke. One that leads to
 * a server that only reads now (25006) was made before another one took its place.
 */
export function endsConnection(error: Error): boolean {
  return (
    error instanceof StoreUnavailable ||
    (error instanceof SqlError && /^(08|57P|25P03|25006)/.test(error.code))
  );
}

function describeDatabaseError(error: unknown): {
  code: string | null;
  constraint: string | null;
  message: string;
} {
  if (!(error instanceof Error)) return { code: null, constraint: null, message: String(error) };
  const code =
    'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null;
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : null;
  return { code, constraint, message: error.message };
}
