import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findBreaches, houseRules, type SourceFile } from './house-rules.ts';

const folders = ['src', 'functions', 'infra', 'test', 'bench', 'examples', 'scripts', 'migrations', 'docs'];

function readTree(): SourceFile[] {
  const nested = folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`),
  );
  const top = readdirSync('.', { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );
  return [...nested, ...top]
    .filter((path) => /\.(ts|tsx|mjs|js|css|sql|md|jsonc?|yml)$/.test(path) && path !== 'package-lock.json')
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

const lines = (count: number) => 'a;\n'.repeat(count);
const marker = ['TO', 'DO'].join('');
const disable = (text: string) => `/* ox${'lint'}-disable ${text} */`;

/** Each planted file with the only rule that may report it; null marks what is allowed. */
const planted: readonly (readonly [rule: string | null, path: string, text: string])[] = [
  ['sql-in-its-folder', 'src/engine/select.ts', 'query(`SELECT id FROM task_instances`);'],
  ['sql-in-its-folder', 'src/cli/update.ts', `query('update task_instances set state = 1');`],
  ['sql-in-its-folder', 'src/adapters/memory/tagged.ts', 'sql`whatever`;'],
  [null, 'src/adapters/postgres/claim.ts', 'query(`SELECT id FROM task_instances`);'],
  [null, 'src/engine/prose.ts', `say('Select one from the list');\n/* 'SELECT a FROM b ' */`],
  ['one-clock', 'src/engine/now.ts', 'const a = Date.now();'],
  ['one-clock', 'functions/date.ts', 'const a = new Date();'],
  ['one-clock', 'src/adapters/local/wait.ts', 'setTimeout(wake, 10);'],
  ['one-clock', 'src/adapters/local/sleep.ts', `import { setTimeout } from 'node:timers/promises';`],
  ['one-clock', 'src/cli/id.ts', 'const a = crypto.randomUUID();'],
  [null, 'src/adapters/system.ts', 'const a = Date.now(); const b = randomBytes(4); setTimeout(a, b);'],
  [null, 'src/engine/speaks-of-it.ts', '// Date.now() would be wrong here\nconst a = new Date(0);'],
  ['tests-do-not-sleep', 'test/engine/sleeps.test.ts', 'await new Promise((done) => setTimeout(done, 100));'],
  [null, 'test/support/wait-until.ts', 'await new Promise((done) => setTimeout(done, 1));'],
  ['migrations-are-numbered', 'migrations/0004_gap.sql', ''],
  ['migrations-are-numbered', 'migrations/0002_Other.sql', ''],
  [null, 'migrations/0001_first_tables.sql', ''],
  [
    'test-names-are-unique',
    'test/x/second.test.ts',
    `describe('a', () => { it.each([1])('b', () => {}); });`,
  ],
  [null, 'test/a/first.test.ts', `describe('a', () => { it('b', () => {}); }); it('a b', () => {});`],
  ['files-are-short', 'src/engine/long.ts', lines(301)],
  [null, 'src/engine/long-enough.ts', lines(300)],
  ['no-markers-for-later', 'docs/plan.md', `${marker}: later`],
  ['disabling-has-a-reason', 'src/engine/no-reason.ts', disable('no-var')],
  ['disabling-has-a-reason', 'src/engine/no-bound.ts', disable('max-lines -- it is a long story')],
  [null, 'src/engine/reason.ts', disable('no-var -- the old engine needs it')],
  ['names-of-files', 'src/engine/turn-helpers.ts', ''],
  ['names-of-files', 'src/engine/runTurn.ts', ''],
  ['known-source-folders', 'src/lib/a.ts', ''],
  ['imports-carry-extensions', 'src/engine/bare.ts', `import { a } from './other';`],
  ['imports-carry-extensions', 'src/engine/bare-call.ts', `const a = import('../core/other');`],
  [null, 'src/engine/extension.ts', `import { a } from './other.ts';`],
];

describe('the house rules', () => {
  const files = planted.map(([, path, text]) => ({ path, text }));
  const breaches = findBreaches(files.toSorted((a, b) => (a.path < b.path ? -1 : 1)));

  it.each(planted)('%s: %s', (rule, path) => {
    const rules = new Set(breaches.filter((breach) => breach.path === path).map((breach) => breach.rule));
    expect([...rules]).toEqual(rule === null ? [] : [rule]);
  });

  it('each have a planted breach', () => {
    expect(Object.keys(houseRules).filter((rule) => !planted.some(([planted]) => planted === rule))).toEqual(
      [],
    );
  });

  it('hold in this repository', () => {
    const found = findBreaches(readTree()).map(({ rule, path, detail }) => `${rule}: ${path} ${detail}`);
    expect(found).toEqual([]);
  });
});
