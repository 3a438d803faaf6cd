import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { hasDatabase, loadTemplate, placeTemplate, type TemplateKind } from '../adapters/local/template.ts';
import { createPGliteDriver } from '../adapters/postgres/drivers/pglite.ts';
import { dropOtherDatabases } from '../adapters/postgres/drop-other-databases.ts';
import { migrate } from '../adapters/postgres/migrate.ts';
import { MIGRATIONS } from '../adapters/postgres/migrations.generated.ts';
import { packageFacts } from './package-facts.ts';

/** Changes with what `buildTemplate` does, so that templates of the older kind are not taken. */
const RECIPE = 'one database';

type OnProgress = (text: string) => void;

/** Opens the database in the folder, from the template when there is none. The caller holds the folder's lock. */
export async function openDatabaseFolder(databasePath: string, onProgress: OnProgress): Promise<PGlite> {
  if (!hasDatabase(databasePath)) placeTemplate(await shippedTemplate(onProgress), databasePath);
  return PGlite.create(databasePath);
}

/** A database that ends with the process. */
export async function openDatabaseInMemory(onProgress: OnProgress): Promise<PGlite> {
  const { archive } = await shippedTemplate(onProgress);
  return PGlite.create({ loadDataDir: new Blob([Uint8Array.from(archive)]) });
}

/** Builds the template where the package ships it, unless it is there already. */
export async function shippedTemplate(onProgress: OnProgress): ReturnType<typeof loadTemplate> {
  return loadTemplate(templateKind(), () =>
    onProgress('Preparing the embedded database for the first time; this takes some seconds …'),
  );
}

function templateKind(): TemplateKind {
  return {
    folder: join(packageFacts().root, 'dist'),
    ingredients: [RECIPE, embeddedVersion(), ...MIGRATIONS.map(({ sql }) => sql)],
    build: buildTemplate,
  };
}

async function buildTemplate(): Promise<Uint8Array> {
  const database = await PGlite.create();
  const driver = createPGliteDriver(database);
  await migrate(driver);
  await dropOtherDatabases(driver);
  const archive = await database.dumpDataDir('gzip');
  await database.close();
  return new Uint8Array(await archive.arrayBuffer());
}

/** The package does not export its package.json, so it is looked for above the module. */
function embeddedVersion(): string {
  let folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return readFileSync(join(folder, 'package.json'), 'utf8');
}
