import type { PoolConfig } from 'pg';
import { err, ok, type Result } from '../../../core/result.ts';
import { EXPECTED_ADDRESS, namesPooler, parseAddress, secretsOf } from './address.ts';
import { TLS_PARAMETERS, tlsOf } from './tls.ts';

/** What stands between this process and the database. `auto`: what the address tells, and what the first answers teach. */
export type PoolerMode = 'auto' | 'transaction' | 'none';

export interface PgConnectionOptions {
  readonly connectionString: string;
  /**
   * `transaction`: a pooler that lends a connection for one transaction. Nothing is set at start-up or for the session then,
   * nothing is prepared under a name, and time-outs of lone statements belong to the login role. Default `auto`.
   */
  readonly pooler?: PoolerMode;
  /** Certificates of authorities, PEM text or the path of such a file. Default: those of Node. */
  readonly ca?: string;
  /** The server ends a connection that was idle for so long, in ms, also while this process is frozen. Default: never. */
  readonly idleSessionMs?: number;
}

/** How connections are made; without what is said to the server at their start. */
export interface PgSettings {
  readonly base: PoolConfig;
  /** What a connection of one's own says at its start; null where a pooler would refuse it. */
  readonly startup: PoolConfig | null;
  readonly secrets: readonly string[];
}

/** Time-outs in ms: in a session of one's own for all statements, through a pooler for each transaction. */
export const TIME_OUTS = {
  statement_timeout: 10_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 5_000,
} as const;

/** An error in words that say what to do, when these options describe no connection. */
export function pgSettingsOf(
  options: PgConnectionOptions,
  environment = process.env,
): Result<PgSettings, string> {
  const url = parseAddress(options.connectionString);
  if (url === null) return err(`STEPWELL_DATABASE_URL is not of the form ${EXPECTED_ADDRESS}`);
  const tls = tlsOf(url, {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    mode: environment['PGSSLMODE'] ?? '',
  });
  if (!tls.ok) return tls;
  const isPooler = options.pooler === 'transaction' || (options.pooler !== 'none' && namesPooler(url));
  const stripped = new URL(url);
  for (const name of [...TLS_PARAMETERS, 'pgbouncer']) stripped.searchParams.delete(name);
  const base: PoolConfig = { connectionString: stripped.href, ssl: tls.value };
  const startup: PoolConfig = { ...base, ...TIME_OUTS, ...idleEnd(stripped, options.idleSessionMs) };
  return ok({ base, startup: isPooler ? null : startup, secrets: secretsOf(url) });
}

/** What the address itself asks for is kept beside it. */
function idleEnd(url: URL, idleSessionMs: number | undefined): PoolConfig {
  if (idleSessionMs === undefined) return {};
  const asking = new URL(url);
  const own = asking.searchParams.get('options');
  const ours = `-c idle_session_timeout=${idleSessionMs}`;
  asking.searchParams.set('options', own === null ? ours : `${own} ${ours}`);
  return { connectionString: asking.href };
}
