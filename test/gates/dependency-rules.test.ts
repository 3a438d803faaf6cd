import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type FixtureTree, plantTree } from './fixture-tree.ts';

const emptyPackage = (name: string): Record<string, string> => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
  [`node_modules/${name}/index.js`]: 'module.exports = {};',
});

const packages = ['zod', '@noble/hashes', '@cfworker/json-schema', 'hono', 'pg'];

/** Files that keep to the rules; every edge the folders need is here, so a rule that is too strict shows. */
const cleanFiles: Record<string, string> = {
  'src/core/plan.ts': `
    import { Validator } from '@cfworker/json-schema';
    import { sha256 } from '@noble/hashes';
    import * as z from 'zod';
    import type { Json } from './json.ts';
    export const plan = (json: Json) => [Validator, sha256, z, json];`,
  'src/core/json.ts': 'export type Json = string;',
  'src/ports/store.ts': `import type { Json } from '../core/json.ts'; export type Store = Json;`,
  'src/engine/turn.ts': `
    import { plan } from '../core/plan.ts';
    import type { Store } from '../ports/store.ts';
    export const turn = (store: Store) => plan(store);`,
  'src/adapters/system.ts': `import type { Store } from '../ports/store.ts'; export const system: Store = '';`,
  'src/adapters/postgres/pool.ts': `
    import { readFileSync } from 'node:fs';
    import pg from 'pg';
    import { system } from '../system.ts';
    export const pool = [pg, system, readFileSync];`,
  'src/adapters/open-store.ts': `import { pool } from './postgres/pool.ts'; export const openStore = () => pool;`,
  'src/api/app.ts': `
    import { Hono } from 'hono';
    import * as z from 'zod';
    import { turn } from '../engine/turn.ts';
    export const app = [Hono, z, turn];`,
  'src/sdk/index.ts': `import * as z from 'zod'; export type { Store } from '../ports/store.ts'; export { z };`,
  'src/api/schemas/body.ts': `import * as z from 'zod'; export const Body = z;`,
  'src/engine/ids.ts': `import type { Store } from '../ports/store.ts'; export const ids: Store = '';`,
  'src/sdk/client.ts': `
    import { system } from '../adapters/system.ts';
    import { ids } from '../engine/ids.ts';
    import type { Body } from './client/wire.ts';
    export const client = (body: Body) => [system, ids, body];`,
  'src/sdk/client/wire.ts': `import type { Body as Schema } from '../../api/schemas/body.ts'; export type Body = typeof Schema;`,
  'src/sdk/testing.ts': `export { turn } from '../engine/turn.ts'; export { pool } from '../adapters/postgres/pool.ts';`,
  'src/cli/main.ts': `import { openStore } from '../adapters/open-store.ts'; import { app } from '../api/app.ts'; app.push(openStore);`,
  'functions/api.ts': `import { app } from '../src/api/app.ts'; import { openStore } from '../src/adapters/open-store.ts'; app.push(openStore);`,
  'functions/cloudflare/index.ts': `import { app } from '../../src/api/app.ts'; export default app;`,
  'test/helper.ts': 'export const helper = 1;',
  // The other half of the planted cycle, which is reported once.
  'src/core/cycle-two.ts': `import type { One } from './cycle-one.ts'; export type Two = One | 2;`,
};

/** Each fault with the rules that must report that file: these and no others. */
const faults: Record<string, { text: string; rules: string[] }> = {
  'src/core/imports-port.ts': {
    text: `import type { Store } from '../ports/store.ts'; export type A = Store;`,
    rules: ['core-allow-list'],
  },
  'src/core/exports-from-port.ts': {
    text: `export type { Store } from '../ports/store.ts';`,
    rules: ['core-allow-list'],
  },
  'src/core/imports-builtin.ts': {
    text: `import { join } from 'node:path'; export const far = join;`,
    rules: ['core-allow-list', 'core-reaches-no-builtin'],
  },
  'src/core/reaches-builtin.ts': {
    text: `import { far } from './imports-builtin.ts'; export const a = far;`,
    rules: ['core-reaches-no-builtin'],
  },
  'src/core/imports-vendor.ts': {
    text: `import { Hono } from 'hono'; export const far = Hono;`,
    rules: ['core-allow-list', 'core-reaches-no-vendor'],
  },
  'src/core/reaches-vendor.ts': {
    text: `import { far } from './imports-vendor.ts'; export const a = far;`,
    rules: ['core-reaches-no-vendor'],
  },
  'src/ports/imports-engine.ts': {
    text: `import type { turn } from '../engine/turn.ts'; export type A = typeof turn;`,
    rules: ['ports-allow-list'],
  },
  'src/ports/imports-zod.ts': {
    text: `import type * as z from 'zod'; export type A = z.ZodType;`,
    rules: ['ports-allow-list'],
  },
  'src/settings/imports-engine.ts': {
    text: `import { turn } from '../engine/turn.ts'; export const a = turn;`,
    rules: ['settings-allow-list'],
  },
  'src/engine/imports-adapter.ts': {
    text: `import { system } from '../adapters/system.ts'; export const a = system;`,
    rules: ['engine-allow-list'],
  },
  'src/engine/imports-builtin.ts': {
    text: `import { setTimeout } from 'timers/promises'; export const a = setTimeout;`,
    rules: ['engine-allow-list'],
  },
  'src/engine/imports-in-a-call.ts': {
    text: `export const load = () => import('pg');`,
    rules: ['engine-allow-list'],
  },
  'src/api/imports-adapter.ts': {
    text: `import { openStore } from '../adapters/open-store.ts'; export const a = openStore;`,
    rules: ['api-allow-list'],
  },
  'src/sdk/imports-engine.ts': {
    text: `import { turn } from '../engine/turn.ts'; export const a = turn;`,
    rules: ['sdk-allow-list'],
  },
  'src/sdk/imports-adapter.ts': {
    text: `import { openStore } from '../adapters/open-store.ts'; export const a = openStore;`,
    rules: ['sdk-allow-list', 'sdk-reaches-no-builtin'],
  },
  'src/sdk/client/wire-imports-route.ts': {
    text: `import { app } from '../../api/app.ts'; export const a = app;`,
    rules: ['sdk-wire-allow-list'],
  },
  'src/sdk/imports-schema.ts': {
    text: `import { Body } from '../api/schemas/body.ts'; export const a = Body;`,
    rules: ['sdk-allow-list'],
  },
  'src/adapters/postgres/imports-engine.ts': {
    text: `import { turn } from '../../engine/turn.ts'; export const a = turn;`,
    rules: ['adapters-point-inwards'],
  },
  'src/adapters/local/imports-sibling.ts': {
    text: `import { pool } from '../postgres/pool.ts'; export const a = pool;`,
    rules: ['adapters-stay-apart'],
  },
  'functions/imports-cli.ts': {
    text: `import '../src/cli/main.ts'; export const a = 1;`,
    rules: ['nothing-imports-cli'],
  },
  'src/cli/imports-function.ts': {
    text: `import '../../functions/api.ts'; export const a = 1;`,
    rules: ['nothing-imports-functions'],
  },
  'functions/imports-test.ts': {
    text: `import { helper } from '../test/helper.ts'; export const a = helper;`,
    rules: ['product-without-test-code'],
  },
  'functions/imports-dev-package.ts': {
    text: `import { vi } from 'vitest'; export const a = vi;`,
    rules: ['product-without-dev-packages'],
  },
  'functions/imports-nothing-there.ts': {
    text: `import { gone } from './gone.ts'; export const a = gone;`,
    rules: ['no-unresolvable'],
  },
  'src/core/cycle-one.ts': {
    text: `import type { Two } from './cycle-two.ts'; export type One = Two | 1;`,
    rules: ['no-cycles'],
  },
  'src/engine/alone.ts': { text: 'export const a = 1;', rules: ['no-orphans'] },
  'functions/cloudflare/reaches-builtin.ts': {
    text: `import { openStore } from '../../src/adapters/open-store.ts'; export const a = openStore;`,
    rules: ['worker-reaches-no-builtin'],
  },
};

const cruiseResult = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
    ruleSetUsed: z.object({ forbidden: z.array(z.object({ name: z.string() })) }),
  }),
});

describe('the dependency rules', () => {
  let tree: FixtureTree;
  let ruleNames: string[] = [];
  const reported = new Map<string, Set<string>>();

  beforeAll(async () => {
    tree = plantTree(
      {
        ...cleanFiles,
        ...Object.fromEntries(Object.entries(faults).map(([path, fault]) => [path, fault.text])),
        ...Object.assign({}, ...[...packages, 'vitest'].map(emptyPackage)),
        'package.json': JSON.stringify({
          name: 'fixture',
          type: 'module',
          dependencies: Object.fromEntries(packages.map((name) => [name, '1.0.0'])),
          devDependencies: { vitest: '1.0.0' },
        }),
      },
      ['.dependency-cruiser.mjs'],
    );
    const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src', 'functions'];
    const run = await tree.run('depcruise', args);
    const { violations, ruleSetUsed } = cruiseResult.parse(JSON.parse(run.stdout)).summary;
    ruleNames = ruleSetUsed.forbidden.map(({ name }) => name);
    for (const { from, rule } of violations) {
      reported.set(from, (reported.get(from) ?? new Set()).add(rule.name));
    }
  });
  afterAll(() => tree.remove());

  it.each(Object.entries(faults))('report %s', (path, { rules }) => {
    expect([...(reported.get(path) ?? [])].toSorted()).toEqual(rules);
  });

  it('report no file that keeps to them', () => {
    expect([...reported.keys()].filter((path) => path in cleanFiles)).toEqual([]);
  });

  it('each have a planted dependency fault', () => {
    const planted = new Set(Object.values(faults).flatMap(({ rules }) => rules));
    expect(ruleNames.filter((name) => !planted.has(name))).toEqual([]);
    expect(ruleNames.length).toBeGreaterThan(0);
  });
});
