import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/**
 * Writes migrations/*.sql into a module, so that the bundle, the tests and the sources carry the same texts without
 * reading files at run time. A test fails when the module is older than the files.
 */
const folder = new URL('../migrations/', import.meta.url);
const target = new URL('../src/adapters/postgres/migrations.generated.ts', import.meta.url);
const versionTarget = new URL('../src/adapters/postgres/schema-version.generated.ts', import.meta.url);

export function migrationsModule() {
  const entries = migrationNames().map((name) => {
    const sql = readFileSync(new URL(name, folder), 'utf8');
    return `  {\n    version: ${Number(name.slice(0, 4))},\n    name: '${name.replace('.sql', '')}',\n    sql: ${literal(sql)},\n  },`;
  });
  return [
    '// Generated from migrations/*.sql by scripts/build-migrations.mjs; changed there and nowhere else.',
    '',
    'export interface Migration {',
    '  /** From 1, without gaps. */',
    '  readonly version: number;',
    '  readonly name: string;',
    '  readonly sql: string;',
    '}',
    '',
    `export const MIGRATIONS: readonly Migration[] = [\n${entries.join('\n')}\n];`,
    '',
  ].join('\n');
}

/** The version by itself, for bundles that do not migrate: the texts are a hundred kilobytes. */
export function schemaVersionModule() {
  return [
    '// Generated from migrations/*.sql by scripts/build-migrations.mjs; changed there and nowhere else.',
    '',
    '/** The schema that this build needs. */',
    `export const SCHEMA_VERSION = ${migrationNames().length};`,
    '',
  ].join('\n');
}

function migrationNames() {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(target, migrationsModule());
  writeFileSync(versionTarget, schemaVersionModule());
}

/** A string as the formatter wants it: in single quotes unless these would have to be escaped more often. */
function literal(text) {
  const inside = JSON.stringify(text).slice(1, -1);
  const count = (quote) => text.split(quote).length - 1;
  return count("'") > count('"')
    ? `"${inside}"`
    : `'${inside.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
