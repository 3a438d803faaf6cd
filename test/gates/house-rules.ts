import { testNames } from './test-names.ts';

/** Rules of this repository that no linter has. Each is a pure function over all files at once. */
export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Breach {
  readonly rule: string;
  readonly path: string;
  readonly detail: string;
}

type HouseRule = (files: readonly SourceFile[]) => Omit<Breach, 'rule'>[];

const LINES_MAX = 300;

/** Folders of src; a new one is a decision about the architecture and is drawn in ARCHITECTURE.md first. */
const SOURCE_FOLDERS = ['adapters', 'api', 'cli', 'core', 'dashboard', 'engine', 'ports', 'sdk', 'settings'];

const isCode = (path: string) => /\.(ts|tsx|mjs|js|css)$/.test(path);
/** Faults are planted there as text. */
const plantsFaults = (path: string) => path.startsWith('test/gates/');
const isProduct = (path: string) => /^(src|functions)\//.test(path) && !path.startsWith('src/dashboard/');

/** Opening words of SQL at the start of a literal, in capitals or small letters; prose starts with one capital. */
const SQL_OPENINGS = [
  String.raw`SELECT\s[^'"]*\sFROM\s`,
  String.raw`SELECT\s+[\w.]+\(`,
  String.raw`INSERT\s+INTO\s`,
  String.raw`UPDATE\s+[\w".]+\s+SET\s`,
  String.raw`DELETE\s+FROM\s`,
  String.raw`(CREATE|ALTER|DROP)\s+(TABLE|INDEX|TYPE|SCHEMA|ROLE|FUNCTION|DATABASE)\s`,
  String.raw`WITH\s+\w+\s+AS\s`,
].flatMap((opening) => [
  opening,
  opening.replace(/\\?\w+/g, (word) => (/^[A-Z]+$/.test(word) ? word.toLowerCase() : word)),
]);

const SQL = new RegExp(`['"\`]\\s*(${SQL_OPENINGS.join('|')})|\\bsql\``);

const AMBIENT_TIME_OR_CHANCE =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.(hrtime|uptime)\b|\bset(Timeout|Interval|Immediate)\b|\bAbortSignal\.timeout\b|\bMath\.random\b|\brandom(UUID|Bytes|Int|FillSync)\b|\bgetRandomValues\b|['"](node:)?timers(\/promises)?['"]/;

/** A disabled rule needs ` -- reason`; the bound on a file's length cannot be disabled at all. */
const DISABLING =
  /(?:ox|es)lint-disable|biome-ignore|(?:v8|c8|istanbul) ignore|@ts-(?:expect-error|ignore|nocheck)/;
const REASON = /(?:--|:)\s+\S+(\s+\S+)+/;

export const houseRules: Readonly<Record<string, HouseRule>> = {
  'sql-in-its-folder': (files) =>
    offendingLines(
      files.filter(({ path }) => isProduct(path) && !path.startsWith('src/adapters/postgres/')),
      SQL,
    ),

  'one-clock': (files) =>
    offendingLines(
      files.filter(({ path }) => isProduct(path) && path !== 'src/adapters/system.ts'),
      AMBIENT_TIME_OR_CHANCE,
    ),

  'tests-do-not-sleep': (files) =>
    offendingLines(
      files.filter(({ path }) => /^test\/.*\.test\.ts$/.test(path) && !plantsFaults(path)),
      /\bset(Timeout|Interval)\(|timers\/promises/,
    ),

  'migrations-are-numbered': (files) => {
    const names = files.flatMap(({ path }) => /^migrations\/([^/]+\.sql)$/.exec(path)?.[1] ?? []).toSorted();
    return names.flatMap((name, index) => {
      const wanted = `${String(index + 1).padStart(4, '0')}_`;
      const fits = name.startsWith(wanted) && /^\d{4}_[a-z0-9]+(_[a-z0-9]+)*\.sql$/.test(name);
      return fits ? [] : [{ path: `migrations/${name}`, detail: `want ${wanted}words_in_lower_case.sql` }];
    });
  },

  'test-names-are-unique': (files) => {
    const firstPaths = new Map<string, string>();
    return files
      .filter(({ path }) => path.endsWith('.test.ts'))
      .flatMap(({ path, text }) =>
        testNames(text).flatMap((name) => {
          const first = firstPaths.get(name);
          firstPaths.set(name, first ?? path);
          return first === undefined ? [] : [{ path, detail: `"${name}" is also in ${first}` }];
        }),
      );
  },

  'files-are-short': (files) =>
    files
      .filter(({ path }) => isCode(path))
      .flatMap(({ path, text }) => {
        const count = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
        return count > LINES_MAX ? [{ path, detail: `${count} lines` }] : [];
      }),

  'no-markers-for-later': (files) =>
    offendingLines(files, /\b(TO\u0044O|FIX\u004dE|XX\u0058|HA\u0043K)\b/, 'with comments'),

  'disabling-has-a-reason': (files) =>
    files
      .filter(({ path }) => isCode(path))
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index) => {
          const at = /(?:\/\/|\/\*)[^'"`]*$/.exec(line)?.[0] ?? '';
          const unfounded = DISABLING.test(at) && (!REASON.test(at) || /max-lines(?!-per)/.test(at));
          return unfounded ? [{ path, detail: `line ${index + 1}` }] : [];
        }),
      ),

  'names-of-files': (files) =>
    files
      .filter(({ path }) => isCode(path))
      .flatMap(({ path }) => {
        const name = path.slice(path.lastIndexOf('/') + 1);
        const fits = /^\.?[a-z0-9]+([-.][a-z0-9]+)*\.(ts|tsx|mjs|js|css)$/.test(name);
        const vague = /(^|-)(utils?|common|helpers?|managers?|misc)[-.]/.test(name);
        return fits && !vague ? [] : [{ path, detail: 'kebab-case, and no util, common, helper or manager' }];
      }),

  'known-source-folders': (files) =>
    files.flatMap(({ path }) => {
      const folder = /^src\/([^/]+)/.exec(path)?.[1];
      return folder === undefined || SOURCE_FOLDERS.includes(folder)
        ? []
        : [{ path, detail: 'unknown folder' }];
    }),

  'imports-carry-extensions': (files) =>
    offendingLines(
      files.filter(({ path }) => /\.tsx?$/.test(path) && !plantsFaults(path)),
      /\b(?:from|import)\s*\(?\s*'\.{1,2}\/(?:[^']*\/)?[^'./]*'/,
    ),
};

export function findBreaches(files: readonly SourceFile[]): Breach[] {
  return Object.entries(houseRules).flatMap(([rule, check]) =>
    check(files).map((breach) => ({ rule, ...breach })),
  );
}

/** Lines that match, comments left out unless asked for; comments may speak of what code may not do. */
function offendingLines(
  files: readonly SourceFile[],
  pattern: RegExp,
  comments?: 'with comments',
): Omit<Breach, 'rule'>[] {
  return files.flatMap(({ path, text }) => {
    const searched = comments === undefined ? withoutComments(text) : text;
    return searched.split('\n').flatMap((line, index) => {
      return pattern.test(line) ? [{ path, detail: `line ${index + 1}: ${line.trim().slice(0, 80)}` }] : [];
    });
  });
}

/** Keeps the line breaks, so that line numbers stay true. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[\s;,{(])\/\/.*$/gm, '$1');
}
