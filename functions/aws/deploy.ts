import {
  directAddress,
  EXPECTED_ADDRESS,
  isAddress,
} from '../../src/adapters/postgres/connection/address.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createLog, systemClock } from '../../src/adapters/system.ts';
import { type DraftOutcome, publishDrafts } from '../../src/engine/publish-drafts.ts';
import { draftsOf, type Project } from '../project.ts';
import { driverNameOf } from './driver-name.ts';

/** What a deployment asks for, once each: the schema before new code takes traffic, the sequences once it does. */
export interface DeployEvent {
  readonly action: 'migrate' | 'publish';
}

export interface DeployAnswer {
  /** Names of the migrations that were applied. */
  readonly migrations: readonly string[];
  readonly sequences: readonly DraftOutcome[];
}

export interface DeployOptions {
  /** Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Takes the lines of the log. Default: standard error, which the host collects. */
  readonly writeLog?: (line: string) => void;
}

/**
 * The function that a deployment calls. `STEPWELL_DATABASE_URL` is that of the owner of the schema, whom no other function
 * knows. Rejects when something could not be applied or published, and so fails the deployment; what is there already is
 * left alone, so it may be called any number of times.
 */
export function createDeployHandler(
  project: Project,
  options: DeployOptions = {},
): (event: DeployEvent) => Promise<DeployAnswer> {
  const { environment = process.env, writeLog } = options;
  return async ({ action }) => {
    const log = createLog({
      level: 'info',
      format: 'json',
      ...(writeLog === undefined ? {} : { write: writeLog }),
    });
    const driver = await openOwnersDriver(environment);
    try {
      if (action === 'migrate') {
        const migrations = await migrate(driver);
        log.info('the schema is up to date', { applied: migrations.length });
        return { migrations, sequences: [] };
      }
      const store = createPostgresStore(driver);
      const drafts = draftsOf(project);
      const sequences = await publishDrafts(
        { store, clock: systemClock },
        project.tenant ?? 'default',
        drafts,
      );
      for (const { name, ...outcome } of sequences)
        log.info('a sequence was looked at', { name, ...outcome });
      refuseUnpublished(sequences);
      return { migrations: [], sequences };
    } finally {
      await driver.close();
    }
  };
}

/** A database that sleeps or starts is waited for: otherwise the whole deployment would have to be done again. */
const WAIT_FOR_DATABASE_MS = 60_000;

/** To a database of Neon the schema goes over a WebSocket, where the runtime has one, and all else over HTTP, as everywhere. */
async function openOwnersDriver(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SqlDriver> {
  const url = environment['STEPWELL_DATABASE_URL'] ?? '';
  if (!isAddress(url)) throw new Error(`STEPWELL_DATABASE_URL is not of the form ${EXPECTED_ADDRESS}`);
  // Not through a pooler, where its address tells the other: a migration may take longer than it lends connections for.
  const connectionString = directAddress(url);
  const set = environment['STEPWELL_DATABASE_DRIVER'];
  const name = driverNameOf(connectionString, set === 'neon' || set === 'pg' ? set : undefined);
  if (name === 'neon' && 'WebSocket' in globalThis) {
    const { createNeonDriver } = await import('../../src/adapters/postgres/drivers/neon.ts');
    return createNeonDriver({
      connectionString,
      clock: systemClock,
      waitForDatabaseMs: WAIT_FOR_DATABASE_MS,
    });
  }
  const { createPgDriver } = await import('../../src/adapters/postgres/drivers/pg.ts');
  const ca = environment['STEPWELL_DATABASE_CA'] ?? '';
  return createPgDriver({
    connectionString,
    ...(environment['STEPWELL_DATABASE_POOLER'] === 'transaction' ? { pooler: 'transaction' } : {}),
    ...(ca === '' ? {} : { ca }),
    poolSize: 1,
    waitForDatabaseMs: WAIT_FOR_DATABASE_MS,
  });
}

function refuseUnpublished(sequences: readonly DraftOutcome[]): void {
  const refused = sequences.flatMap((sequence) =>
    sequence.outcome === 'refused' ? [`${sequence.name}: ${sequence.problem}`] : [],
  );
  if (refused.length > 0) throw new Error(`sequences were not published: ${refused.join('; ')}`);
}
