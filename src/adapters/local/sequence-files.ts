import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Advice } from '../../core/advice.ts';
import { jsonSyntaxProblem } from '../../core/json-door.ts';
import { err, ok, type Result } from '../../core/result.ts';

const ENDINGS: ReadonlySet<string> = new Set(['.json', '.ts', '.mts', '.js', '.mjs']);
/** Declarations, and what tests a sequence beside it. */
const OTHERS = /\.(d|test|spec)\.[a-z]+$/;

/**
 * The files of a project that may hold sequences: a file, or all of a folder and its subfolders in the order of their
 * names, so that the same files always make the same code. Hidden folders and node_modules are left out. Refused when the
 * path cannot be read, or when a JSON file is none, with its line and column.
 */
export function sequenceFiles(path: string): Result<readonly string[], Advice> {
  let files: readonly string[];
  try {
    files = statSync(path).isDirectory() ? filesIn(path) : [path];
  } catch {
    return err({ message: `${path} cannot be read`, next: 'Name a file or a folder with sequences.' });
  }
  for (const file of files) {
    const problem = extname(file) === '.json' ? jsonSyntaxProblem(readFileSync(file, 'utf8')) : null;
    if (problem === null) continue;
    const next = 'Correct the syntax; comments and commas at the end of a list are not allowed.';
    return err({ message: `${file} is not JSON: it ${problem}`, next });
  }
  return ok(files);
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
