import { Client, neon } from '@neondatabase/serverless';
import type { Clock } from '../../../ports/system.ts';
import { EXPECTED_ADDRESS, parseAddress, secretsOf } from '../connection/address.ts';
import { notConnected } from '../connection/not-connected.ts';
import {
  type SqlDriver,
  type SqlRows,
  type SqlSession,
  type SqlTransport,
  createSqlDriver,
  toStoreError,
} from '../driver.ts';
import { lastRows } from '../rows.ts';

export interface NeonDriverOptions {
  readonly connectionString: string;
  /** Cuts requests off that are not answered. */
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /** Default 15000; above the statement time-out of the role, so that the database gives up first. */
  readonly requestTimeoutMs?: number;
  /** How long a call waits while nobody answers at all, milliseconds. Default 0. */
  readonly waitForDatabaseMs?: number;
}

const REQUEST_TIMEOUT_MS = 15_000;

/**
 * The driver for Neon over HTTP: each call is one request, several statements are one request and one transaction. No
 * connection is kept, so time-outs must belong to the login role. Only migrations need a session; they go over a
 * WebSocket, which the host must have (Node 22, Workers; Node 20 with `neonConfig.webSocketConstructor`). Throws when the
 * address is none.
 */
export function createNeonDriver(options: NeonDriverOptions): SqlDriver {
  const { clock, waitForDatabaseMs = 0 } = options;
  const url = parseAddress(options.connectionString);
  // The library would show the whole text, and so the password, in its own error.
  if (url === null) throw new Error(`STEPWELL_DATABASE_URL is not of the form ${EXPECTED_ADDRESS}`);
  return createSqlDriver(createNeonTransport(url, options), { clock, waitForDatabaseMs });
}

function createNeonTransport(url: URL, options: NeonDriverOptions): SqlTransport {
  // It travels in a header, which takes no characters beyond Latin: a refusal would show all of it.
  const sql = neon(url.href, { arrayMode: true });
  const secrets = secretsOf(url);
  const timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;

  return {
    async send(statements) {
      const cutOff = new AbortController();
      const stopTimer = options.clock.after(timeoutMs, () => cutOff.abort());
      const fetchOptions = { signal: cutOff.signal };
      try {
        const [only] = statements;
        if (statements.length === 1 && only !== undefined) {
          const rows: SqlRows = await sql.query(only.text, [...only.params], { fetchOptions });
          return [rows];
        }
        const queries = statements.map(({ text, params }) => sql.query(text, [...params]));
        const all: readonly SqlRows[] = await sql.transaction(queries, { arrayMode: true, fetchOptions });
        return all;
      } catch (error) {
        throw wasRefused(error) ? notConnected(error, secrets) : toStoreError(error, true, secrets);
      } finally {
        stopTimer();
      }
    },
    openSession: () => openNeonSession(url.href, secrets),
    close: () => Promise.resolve(),
  };
}

/** Nobody listens, the name is unknown, the login is refused, there is no such database. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  '28P01',
  '28000',
  '3D000',
]);

/** True when the request cannot have reached the database. */
function wasRefused(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && REFUSALS.has(at.code)) return true;
    at = 'sourceError' in at ? at.sourceError : at.cause;
  }
  return false;
}

async function openNeonSession(connectionString: string, secrets: readonly string[]): Promise<SqlSession> {
  const client = new Client(connectionString);
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
