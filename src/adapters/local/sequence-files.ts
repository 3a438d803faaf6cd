import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { jsonSyntaxProblem } from '../../core/json-door.ts';

const ENDINGS: ReadonlySet<string> = new Set(['.json', '.ts', '.mts', '.js', '.mjs']);
/** Declarations, and what tests a sequence beside it. */
const OTHERS = /\.(d|test|spec)\.[a-z]+$/;

/**
 * The files of a project that may hold sequences: a file, or all of a folder and its subfolders in the order of their
 * names, so that the same files always make the same code. Hidden folders and node_modules are left out. Throws when a
 * path cannot be read, or a JSON file is none, with the line and column.
 */
export function sequenceFiles(path: string): readonly string[] {
  const files = statSync(path).isDirectory() ? filesIn(path) : [path];
  for (const file of files) if (extname(file) === '.json') checkJson(file);
  return files;
}

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap((entry) => {
    const path = join(folder, entry.name);
    // A link counts as what it leads to.
    if (statSync(path).isDirectory()) {
      return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : filesIn(path);
    }
    return ENDINGS.has(extname(entry.name)) && !OTHERS.test(entry.name) ? [path] : [];
  });
}

function checkJson(file: string): void {
  const problem = jsonSyntaxProblem(readFileSync(file, 'utf8'));
  if (problem !== null) throw new Error(`${file} is not JSON: it ${problem}`);
}
