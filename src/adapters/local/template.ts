import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpackTarGz } from './unpack-tar.ts';

/**
 * The template is an embedded database with all migrations applied, packed (RULINGS B18): making one takes seconds,
 * unpacking one does not. It is built when the package is prepared and named by what went into it, so that a template of
 * another version is never taken for the right one.
 */
export interface TemplateKind {
  /** Where templates lie: the package's dist/. */
  readonly folder: string;
  /** Whatever the content depends on: the text of the migrations, the version of the embedded database. */
  readonly ingredients: readonly string[];
  /** Makes the archive: a gzipped tar of the database folder. */
  readonly build: () => Promise<Uint8Array>;
}

export type TemplateOrigin = 'shipped' | 'built';

export interface Template {
  readonly archive: Uint8Array;
  readonly origin: TemplateOrigin;
}

export function templatePath(kind: TemplateKind): string {
  const hash = createHash('sha256');
  // The length keeps apart what concatenation would join.
  for (const ingredient of kind.ingredients) hash.update(`${ingredient.length}:${ingredient}`);
  return join(kind.folder, `template-${hash.digest('hex').slice(0, 16)}.tar.gz`);
}

/** The shipped template, or a new one when it is missing; `onBuild` is called before the seconds that takes. */
export async function loadTemplate(kind: TemplateKind, onBuild: () => void): Promise<Template> {
  const path = templatePath(kind);
  if (existsSync(path)) return { archive: readFileSync(path), origin: 'shipped' };
  onBuild();
  const archive = await kind.build();
  keepTemplate(kind, archive);
  return { archive, origin: 'built' };
}

/** Best effort: an installed package may lie in a folder that we may not write to; then it is built again next time. */
function keepTemplate(kind: TemplateKind, archive: Uint8Array): void {
  const path = templatePath(kind);
  try {
    mkdirSync(kind.folder, { recursive: true });
    // Several processes may build at once; each renames a whole file of its own.
    writeFileSync(`${path}.${process.pid}`, archive);
    renameSync(`${path}.${process.pid}`, path);
    for (const name of readdirSync(kind.folder)) {
      const other = join(kind.folder, name);
      if (/^template-[0-9a-f]+\.tar\.gz/.test(name) && other !== path) rmSync(other, { force: true });
    }
  } catch {
    return;
  }
}

/** True when the folder holds a database that was put there completely. */
export function hasDatabase(databasePath: string): boolean {
  return existsSync(join(databasePath, 'PG_VERSION'));
}

/**
 * Puts the template where the database belongs. The folder appears under its name only when it is complete, so a
 * process that dies halfway leaves nothing that looks like a database. The caller holds the lock of the data folder.
 */
export function placeTemplate(template: Template, databasePath: string): void {
  const draft = `${databasePath}.new`;
  rmSync(draft, { recursive: true, force: true });
  unpackTarGz(template.archive, draft);
  if (!hasDatabase(draft)) throw new Error('the template is no database');
  renameSync(draft, databasePath);
}
