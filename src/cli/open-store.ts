import type { Advice } from '../core/advice.ts';
import { err, ok, type Result } from '../core/result.ts';
import { openDataFolder } from '../adapters/local/data-folder.ts';
import type { SqlDriver } from '../adapters/postgres/driver.ts';
import { createPGliteDriver } from '../adapters/postgres/drivers/pglite.ts';
import { migrate, SCHEMA_VERSION } from '../adapters/postgres/migrate.ts';
import { createPostgresStore } from '../adapters/postgres/store.ts';
import { systemClock } from '../adapters/system.ts';
import type { Store } from '../ports/store/store.ts';
import { openDatabaseFolder, openDatabaseInMemory } from './embedded-database.ts';
import { docPath } from './package-facts.ts';
import { describeDatabase } from './settings/database-target.ts';
import { openServerDriver } from './server-driver.ts';
import type { Settings } from '../settings/schema.ts';

export interface OpenStore {
  readonly store: Store;
  /** No other process can be at work on this database. */
  readonly isOurs: boolean;
  readonly close: () => Promise<void>;
}

type OnProgress = (text: string) => void;

/** Opens the database that the settings name. An embedded one is locked, migrated, and freed of dead leases. */
export async function openStore(
  settings: Settings,
  onProgress: OnProgress,
): Promise<Result<OpenStore, Advice>> {
  const target = settings.databaseUrl;
  switch (target.kind) {
    case 'memory':
      return ok(await ownStore(createPGliteDriver(await openDatabaseInMemory(onProgress)), onProgress));
    case 'folder':
      return openFolder(target.folder, onProgress);
    case 'server':
      return openServerDatabase(target.url, settings, onProgress);
    default:
      return target satisfies never;
  }
}

async function openFolder(folder: string, onProgress: OnProgress): Promise<Result<OpenStore, Advice>> {
  const opened = await openDataFolder(folder, systemClock);
  if (!opened.ok) return opened;
  const { databasePath, path, release } = opened.value;
  try {
    const database = await openDatabaseFolder(databasePath, onProgress);
    const store = await ownStore(createPGliteDriver(database), onProgress);
    const close = async (): Promise<void> => {
      await store.close();
      await release();
    };
    return ok({ ...store, close });
  } catch (error) {
    await release();
    return err({
      message: `the database in ${path} cannot be opened: ${textOf(error)}`,
      next: 'It may come from another version of Stepwell. Start with --data <another folder>, or remove this one.',
    });
  }
}

/** Whoever held the leases in a database of our own is dead (RULINGS B18): its instances are due again at once. */
async function ownStore(driver: SqlDriver, onProgress: OnProgress): Promise<OpenStore> {
  await migrateWithNotice(driver, onProgress);
  const store = createPostgresStore(driver);
  await store.voidAllLeases();
  return { store, isOurs: true, close: () => store.close() };
}

async function openServerDatabase(
  url: string,
  settings: Settings,
  onProgress: OnProgress,
): Promise<Result<OpenStore, Advice>> {
  const driver = openServerDriver(url, settings, settings.databaseMaxConnections);
  if (settings.runMigrations === true) {
    const migrated = await migrateServer(driver, settings, onProgress);
    if (!migrated.ok) {
      await driver.close();
      return migrated;
    }
  }
  const store = createPostgresStore(driver);
  return ok({ store, isOurs: false, close: () => store.close() });
}

/** Brings a server's database up to this build; answers the names of what was applied. */
export async function migrateServer(
  driver: SqlDriver,
  settings: Settings,
  onProgress: OnProgress,
): Promise<Result<readonly string[], Advice>> {
  try {
    return ok(await migrateWithNotice(driver, onProgress));
  } catch (error) {
    // A login that owns nothing may not even ask for the schema to be there; where nothing is to be done, nothing is refused.
    if (await isUpToDate(driver)) return ok([]);
    return err({
      message: `${describeDatabase(settings.databaseUrl)} cannot be migrated: ${textOf(error)}`,
      next:
        'The user needs the right to create a schema and, once, the roles stepwell_engine and stepwell_app.\n' +
        `${docPath('databases.md')} describes addresses, certificates, poolers and logins.`,
    });
  }
}

async function isUpToDate(driver: SqlDriver): Promise<boolean> {
  try {
    return (await createPostgresStore(driver).ping()).schemaVersion >= SCHEMA_VERSION;
  } catch {
    return false;
  }
}

async function migrateWithNotice(driver: SqlDriver, onProgress: OnProgress): Promise<readonly string[]> {
  const names = await migrate(driver);
  if (names.length > 0) onProgress(`Applied ${names.length} migrations, the last one ${names.at(-1) ?? ''}.`);
  return names;
}

/** The whole chain: the cause says what is wrong, the outer message where. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause === undefined) return error.message;
  const cause = textOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
