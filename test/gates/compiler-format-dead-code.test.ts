import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type FixtureTree, plantTree } from './fixture-tree.ts';

const tooMuchForCore = {
  node: 'export const a = process.pid;',
  'node-import': `import { join } from 'node:path'; export const a = join('a');`,
  fetch: `export const a = () => fetch('http://localhost');`,
  timer: 'export const a = () => setTimeout(() => {}, 1);',
  dom: 'export const a = document;',
  console: `export const a = () => console.log('');`,
  crypto: 'export const a = () => crypto.randomUUID();',
  index: 'export const a = (b: string[]): string => b[0];',
  optional: 'export const a: { b?: string } = { b: undefined };',
  enum: 'export enum A { B }',
  'type-import': `import { Clean } from './clean.ts'; export const a: Clean = 1;`,
  unused: 'const a = 1;\nexport {};',
};

describe('the compiler settings of the core', () => {
  let tree: FixtureTree;
  let reportedFiles: Set<string>;

  beforeAll(async () => {
    const faults = Object.entries(tooMuchForCore).map(([name, text]) => [`src/core/${name}.ts`, text]);
    tree = plantTree(
      {
        ...Object.fromEntries(faults),
        'src/core/clean.ts': 'export type Clean = 1; export const a = new Date(0);',
      },
      ['src/core/tsconfig.json', 'tsconfig.base.json'],
      'installed',
    );
    const run = await tree.run('tsc', ['-p', 'src/core/tsconfig.json']);
    reportedFiles = new Set(
      [...run.stdout.matchAll(/^src\/core\/([\w-]+)\.ts\(/gm)].map((match) => match[1] ?? ''),
    );
  });
  afterAll(() => tree.remove());

  it.each(Object.keys(tooMuchForCore))('refuse the planted %s', (name) => {
    expect(reportedFiles).toContain(name);
  });

  it('accept a file without Node or DOM', () => {
    expect(reportedFiles).not.toContain('clean');
  });
});

describe('the format gate', () => {
  let tree: FixtureTree;
  afterAll(() => tree.remove());

  it('reports double quotes, a missing semicolon, a missing comma and four spaces, and nothing else', async () => {
    tree = plantTree(
      {
        'quotes.ts': 'export const a = "b";\n',
        'semicolon.ts': `export const a = 'b'\n`,
        'comma.ts': `export const a = [\n  '${'b'.repeat(60)}',\n  '${'b'.repeat(60)}'\n];\n`,
        'indent.ts': 'export function a() {\n    return 1;\n}\n',
        'good.ts': `export const a = ['${'b'.repeat(40)}', '${'b'.repeat(40)}'];\n`,
        'dist/built.ts': 'export const a = "b";\n',
        'coverage/built.ts': 'export const a = "b";\n',
        'migrations/0001_meta.json': '{"a":\n1}',
      },
      ['biome.json'],
    );
    const run = await tree.run('biome', ['format', '--reporter=github', '.']);
    const files = [...run.stdout.matchAll(/file=([^,]+)/g)].map((match) => basename(match[1] ?? ''));
    expect(new Set(files)).toEqual(new Set(['quotes.ts', 'semicolon.ts', 'comma.ts', 'indent.ts']));
    expect(run.exitCode).not.toBe(0);
  });
});

const found = z.array(z.object({ name: z.string() })).default([]);
const knipIssue = z
  .object({
    file: z.string(),
    files: found,
    dependencies: found,
    unlisted: found,
    exports: found,
    types: found,
  })
  .transform(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, names]) => names.map(({ name }) => `${file} ${kind} ${name}`)),
  );
const knipReport = z.object({ issues: z.array(knipIssue) });

describe('the dead-code gate', () => {
  let tree: FixtureTree;
  afterAll(() => tree.remove());

  it('reports an unused file, export, type and dependency, and a package that is not listed', async () => {
    tree = plantTree(
      {
        'package.json': JSON.stringify({
          name: 'fixture',
          type: 'module',
          dependencies: { zod: '1', hono: '1' },
        }),
        'src/sdk/index.ts': `import 'unlisted'; import 'zod'; import { used } from '../core/used.ts'; export { used };`,
        'src/core/used.ts': 'export const used = 1; export const unused = 2; export type Unused = 3;',
        'src/core/dead.ts': 'export const a = 1;',
      },
      ['knip.json'],
    );
    const run = await tree.run('knip', ['--reporter', 'json']);
    const { issues } = knipReport.parse(JSON.parse(run.stdout));
    expect(new Set(issues.flat())).toEqual(
      new Set([
        'package.json dependencies hono',
        'src/core/dead.ts files src/core/dead.ts',
        'src/core/used.ts exports unused',
        'src/core/used.ts types Unused',
        'src/sdk/index.ts unlisted unlisted',
      ]),
    );
  });
});
