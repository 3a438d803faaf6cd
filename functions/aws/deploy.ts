import {
  directAddress,
  EXPECTED_ADDRESS,
  isAddress,
} from '../../src/adapters/postgres/connection/address.ts';
import { admitLogin } from '../../src/adapters/postgres/admit-login.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createLog, systemClock } from '../../src/adapters/system.ts';
import { type DraftOutcome, publishDrafts, refusedDrafts } from '../../src/engine/publish-drafts.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Log } from '../../src/ports/system.ts';
import { draftsOf, type Project } from '../project.ts';
import { readDeploySettings } from '../settings.ts';
import { driverNameOf } from './driver-name.ts';

/** What a deployment asks for, once each: the schema before new code takes traffic, the sequences once it does. */
export interface DeployEvent {
  readonly action: 'migrate' | 'publish';
}

const ACTIONS: readonly DeployEvent['action'][] = ['migrate', 'publish'];

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
 * knows; `STEPWELL_LOGIN` is the login of the others, when it is not the owner's, and is made with `STEPWELL_LOGIN_PASSWORD` when it
 * is not there. Rejects when something could not be applied
 * or published, and so fails the deployment: before anything is changed, when a sequence breaks a rule. What is there already
 * is left alone, so it may be called any number of times.
 */
export function createDeployHandler(
  project: Project,
  options: DeployOptions = {},
): (event: DeployEvent) => Promise<DeployAnswer> {
  const { environment = process.env, writeLog } = options;
  return async ({ action }) => {
    // Anybody may call a function with anything.
    if (!ACTIONS.includes(action))
      throw new Error(`the action of a deployment is one of ${ACTIONS.join(', ')}`);
    const log = createLog({
      level: 'info',
      format: 'json',
      ...(writeLog === undefined ? {} : { write: writeLog }),
    });
    const drafts = draftsOf(project);
    const tenant = project.tenant ?? 'default';
    refuseUnpublished(refusedDrafts({ clock: systemClock }, tenant, drafts));
    const driver = await openOwnersDriver(environment);
    try {
      switch (action) {
        case 'migrate':
          return { migrations: await prepare(driver, environment, log), sequences: [] };
        case 'publish':
          return { migrations: [], sequences: await publish(driver, tenant, drafts, log) };
      }
    } finally {
      await driver.close();
    }
  };
}

async function prepare(
  driver: SqlDriver,
  { STEPWELL_LOGIN: login, STEPWELL_LOGIN_PASSWORD: password }: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<readonly string[]> {
  const migrations = await migrate(driver);
  log.info('the schema is up to date', { applied: migrations.length });
  if (login === undefined || login === '') return migrations;
  const admission = await admitLogin(driver, login, password);
  if (!admission.ok) throw new Error(admission.error);
  log.info('the login of the functions was looked at', { login, admission: admission.value });
  return migrations;
}

async function publish(
  driver: SqlDriver,
  tenant: string,
  drafts: readonly JsonObject[],
  log: Log,
): Promise<readonly DraftOutcome[]> {
  const deps = { store: createPostgresStore(driver), clock: systemClock };
  const sequences = await publishDrafts(deps, tenant, drafts);
  for (const { name, ...outcome } of sequences) log.info('a sequence was looked at', { name, ...outcome });
  refuseUnpublished(sequences);
  return sequences;
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
  const settings = readDeploySettings(environment);
  const name = driverNameOf(connectionString, settings.STEPWELL_DATABASE_DRIVER);
  if (name === 'neon' && 'WebSocket' in globalThis) {
    const { createNeonDriver } = await import('../../src/adapters/postgres/drivers/neon.ts');
    return createNeonDriver({
      connectionString,
      clock: systemClock,
      waitForDatabaseMs: WAIT_FOR_DATABASE_MS,
    });
  }
  const { createPgDriver } = await import('../../src/adapters/postgres/drivers/pg.ts');
  const { STEPWELL_DATABASE_CA: ca, STEPWELL_DATABASE_POOLER: pooler } = settings;
  return createPgDriver({
    connectionString,
    ...(pooler === 'transaction' ? { pooler } : {}),
    ...(ca === undefined ? {} : { ca }),
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
