import { Client, neon } from '@neondatabase/serverless';
import type { Clock } from '../../../ports/system.ts';
import { StoreUnavailable } from '../../../ports/store/store.ts';
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
  readonly clock: Pick<Clock, 'after'>;
  /** Default 15000; above the statement time-out of the role, so that the database gives up first. */
  readonly requestTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 15_000;

/**
 * The driver for Neon over HTTP: each call is one request, several statements are one request and one transaction. No
 * connection is kept, so time-outs must belong to the login role. Only migrations need a session; they go over a
 * WebSocket, which the host must have (Node 22, Workers; Node 20 with `neonConfig.webSocketConstructor`).
 */
export function createNeonDriver(options: NeonDriverOptions): SqlDriver {
  return createSqlDriver(createNeonTransport(options));
}

function createNeonTransport(options: NeonDriverOptions): SqlTransport {
  const sql = neon(options.connectionString, { arrayMode: true });
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
        throw toStoreError(error, !wasRefused(error));
      } finally {
        stopTimer();
      }
    },
    openSession: () => openNeonSession(options.connectionString),
    close: () => Promise.resolve(),
  };
}

/** True when the request cannot have reached the database: nobody listens, or the name is unknown. */
function wasRefused(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && (at.code === 'ECONNREFUSED' || at.code === 'ENOTFOUND' || at.code === 'EAI_AGAIN'))
      return true;
    at = 'sourceError' in at ? at.sourceError : at.cause;
  }
  return false;
}

async function openNeonSession(connectionString: string): Promise<SqlSession> {
  const client = new Client(connectionString);
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StoreUnavailable('the database was not reached over a WebSocket', {
      unknown: false,
      cause: error,
    });
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
