import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type FixtureTree, plantTree } from './fixture-tree.ts';

const lines = (count: number, line: string) => `${line}\n`.repeat(count);

/** Each fault with the rules that must report that file: these and no others. */
const faults: Record<string, { text: string; rules: string[] }> = {
  'src/core/reads-clock.ts': {
    text: 'export const a = () => Date.now();',
    rules: ['eslint(no-restricted-properties)'],
  },
  'src/core/makes-date.ts': { text: 'export const a = () => new Date();', rules: ['house(no-ambient-date)'] },
  'src/core/calls-date.ts': { text: 'export const a = () => Date();', rules: ['house(no-ambient-date)'] },
  'src/core/rolls-dice.ts': {
    text: 'export const a = () => Math.random();',
    rules: ['eslint(no-restricted-properties)'],
  },
  ...Object.fromEntries(
    [
      'process.exit',
      'fetch',
      'setTimeout',
      'setInterval',
      'crypto.randomUUID',
      'performance.now',
      'globalThis.Date',
      'queueMicrotask',
    ].map((name) => [
      `src/core/uses-${name.toLowerCase().replace('.', '-')}.ts`,
      { text: `export const a = () => ${name}();`, rules: ['eslint(no-restricted-globals)'] },
    ]),
  ),
  'src/core/prints.ts': {
    text: `export const a = () => console.log('');`,
    rules: ['eslint(no-console)', 'eslint(no-restricted-globals)'],
  },
  'src/engine/prints.ts': { text: `export const a = () => console.log('');`, rules: ['eslint(no-console)'] },
  'src/engine/says-any.ts': { text: 'export type A = any;', rules: ['typescript(no-explicit-any)'] },
  'src/engine/passes-any.ts': {
    text: `export const a: string = JSON.parse('1');`,
    rules: ['typescript(no-unsafe-assignment)'],
  },
  'src/engine/returns-any.ts': {
    text: `export const a = (): string => JSON.parse('1');`,
    rules: ['typescript(no-unsafe-return)'],
  },
  'src/engine/calls-any.ts': {
    text: `export const a = (): unknown => JSON.parse('1')();`,
    rules: ['typescript(no-unsafe-call)'],
  },
  'src/engine/reads-any.ts': {
    text: `export const a = (): unknown => JSON.parse('1').b;`,
    rules: ['typescript(no-unsafe-member-access)'],
  },
  'src/engine/gives-any.ts': {
    text: `export const a = (): number => Number.parseInt(JSON.parse('1'), 10);`,
    rules: ['typescript(no-unsafe-argument)'],
  },
  'src/engine/non-null.ts': {
    text: 'export const a = (b: string | null): string => b!;',
    rules: ['typescript(no-non-null-assertion)'],
  },
  'src/engine/casts.ts': {
    text: 'export const a = (b: unknown): string => b as string;',
    rules: ['typescript(consistent-type-assertions)'],
  },
  'src/engine/hides-type-import.ts': {
    text: `export type A = import('../core/clean.ts').Clean;`,
    rules: ['typescript(consistent-type-imports)'],
  },
  'src/engine/expects-error.ts': {
    text: '// @ts-expect-error\nexport const a: string = 1;',
    rules: ['typescript(ban-ts-comment)'],
  },
  'src/engine/namespace.ts': {
    text: 'export namespace A { export const b = 1; }',
    rules: ['typescript(no-namespace)'],
  },
  'src/engine/falls-through.ts': {
    text: `export const a = (b: number) => {
      switch (b) { case 1: b += 1; case 2: return b; default: return 0; }
    };`,
    rules: ['eslint(no-fallthrough)'],
  },
  'src/engine/misses-case.ts': {
    text: `export const a = (b: 'x' | 'y') => { switch (b) { case 'x': return 1; } return 0; };`,
    rules: ['typescript(switch-exhaustiveness-check)'],
  },
  'src/engine/floats.ts': {
    text: 'export const a = (b: Promise<void>) => { b; };',
    rules: ['eslint(no-unused-expressions)', 'typescript(no-floating-promises)'],
  },
  'src/engine/floats-call.ts': {
    text: 'export const a = (b: () => Promise<void>) => { b(); };',
    rules: ['typescript(no-floating-promises)'],
  },
  'src/engine/misuses.ts': {
    text: 'export const a = (b: () => Promise<boolean>) => { if (b()) { return 1; } return 0; };',
    rules: ['typescript(no-misused-promises)'],
  },
  'src/engine/throws-text.ts': {
    text: `export const a = () => { throw 'text'; };`,
    rules: ['typescript(only-throw-error)'],
  },
  'src/engine/loose.ts': { text: 'export const a = (b: string) => b == "";', rules: ['eslint(eqeqeq)'] },
  'src/engine/var.ts': {
    text: 'export const a = () => { var b = 1; b += 1; return b; };',
    rules: ['eslint(no-var)'],
  },
  'src/engine/let.ts': {
    text: 'export const a = () => { let b = 1; return b; };',
    rules: ['eslint(prefer-const)'],
  },
  'src/engine/named-zod.ts': {
    text: `import { z } from 'zod'; export const a = z.string();`,
    rules: ['house(zod-namespace-import)'],
  },
  'src/engine/useless-disable.ts': {
    text: '// oxlint-disable-next-line no-var -- there is none\nexport const a = 1;',
    rules: ['unused-directive'],
  },
  'src/engine/long-file.ts': { text: lines(301, '// a'), rules: ['eslint(max-lines)'] },
  'src/engine/long-function.ts': {
    text: `export function a() {\n${lines(59, '  // a')}}\n`,
    rules: ['eslint(max-lines-per-function)'],
  },
  'test/long.test.ts': { text: lines(301, '// a'), rules: ['eslint(max-lines)'] },
  'test/focused.test.ts': {
    text: `import { it } from 'vitest'; it.only('x', () => {});`,
    rules: ['vitest(no-focused-tests)'],
  },
  'test/disabled.test.ts': {
    text: `import { it } from 'vitest'; it.skip('x', () => {});`,
    rules: ['vitest(no-disabled-tests)'],
  },
};

/** As near to the faults as is allowed. */
const cleanFiles: Record<string, string> = {
  'src/core/clean.ts': `
    import * as z from 'zod';
    export type Clean = 'x' | 'y';
    export const time = (ms: number) => new Date(ms).toISOString();
    export const rank = (clean: Clean): number => { switch (clean) { case 'x': return 1; case 'y': return Math.max(1, 2); } };
    export const table = [1, 2] as const satisfies readonly number[];
    export const schema = z.string();`,
  'src/engine/rows.ts': 'export const row = (value: unknown): string => value as string;',
  'src/engine/edge-of-length.ts': `export function a() {\n${lines(58, '  // a')}}\n${lines(240, '// a')}`,
  'src/cli/print.ts': `export const print = () => console.log('');`,
  'test/clean.test.ts': `
    import { it } from 'vitest';
    it('x', async () => { const seen = (await Promise.resolve(JSON.parse('1'))) as string; console.log(seen); ${lines(70, '')} });`,
};

const ruleSettings = z.record(z.string(), z.unknown());
const lintConfiguration = z
  .object({ rules: ruleSettings, overrides: z.array(z.object({ rules: ruleSettings })) })
  .parse(JSON.parse(readFileSync('.oxlintrc.json', 'utf8')));

const lintResult = z.object({
  diagnostics: z.array(z.object({ code: z.string().optional(), message: z.string(), filename: z.string() })),
});

describe('the lint rules', () => {
  let tree: FixtureTree;
  const reported = new Map<string, Set<string>>();

  beforeAll(async () => {
    const planted = Object.fromEntries(Object.entries(faults).map(([path, fault]) => [path, fault.text]));
    const configuration = ['.oxlintrc.json', 'scripts/lint', 'tsconfig.json', 'tsconfig.base.json'];
    tree = plantTree({ ...planted, ...cleanFiles }, configuration, 'installed');
    const run = await tree.run('oxlint', ['--type-aware', '--format', 'json', 'src', 'test']);
    for (const { code, message, filename } of lintResult.parse(JSON.parse(run.stdout)).diagnostics) {
      const rule = code ?? (message.startsWith('Unused') ? 'unused-directive' : message);
      reported.set(filename, (reported.get(filename) ?? new Set()).add(rule));
    }
  });
  afterAll(() => tree.remove());

  it.each(Object.entries(faults))('reports %s', (path, { rules }) => {
    expect([...(reported.get(path) ?? [])].toSorted()).toEqual(rules);
  });

  it('report no file that keeps to the lint rules', () => {
    expect([...reported].filter(([path]) => path in cleanFiles)).toEqual([]);
  });

  it('each have a planted lint fault', () => {
    const planted = new Set(Object.values(faults).flatMap(({ rules }) => rules));
    const configured = [
      lintConfiguration.rules,
      ...lintConfiguration.overrides.map(({ rules }) => rules),
    ].flatMap((rules) =>
      Object.entries(rules)
        .filter(([, setting]) => setting !== 'off')
        .map(([name]) => name),
    );
    const reportedName = (name: string) =>
      name.includes('/') ? name.replace(/\/(.*)/, '($1)') : `eslint(${name})`;
    expect(configured.map(reportedName).filter((name) => !planted.has(name))).toEqual([]);
  });
});
