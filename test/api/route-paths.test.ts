import { describe, expect, it } from 'vitest';
import { ROUTE_MODULES, ROUTE_PATHS } from '../../src/api/routes/route-paths.generated.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { tableOf } from '../../src/api/route-table.ts';
import type { Route } from '../../src/api/route.ts';

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const load = async (modules: readonly string[]): Promise<readonly Route[]> =>
  (await Promise.all(modules.map(async (name) => (await ROUTE_MODULES[name]?.()) ?? []))).flat();

describe('the table of routes for functions (node scripts/build-route-paths.mjs)', () => {
  it('has every path of the API, mounted alike', () => {
    const shown = ({ path, isRoot }: { readonly path: string; readonly isRoot: boolean }): string =>
      `${path} ${isRoot}`;
    expect(ROUTE_PATHS.map(shown).toSorted()).toEqual(tableOf(ROUTES).paths.map(shown).toSorted());
  });

  it('loads for each path all of its routes', async () => {
    for (const { path, modules } of ROUTE_PATHS) {
      const expected = ROUTES.filter((route) => route.path === path).map(nameOf);
      const found = (await load(modules)).filter((route) => route.path === path).map(nameOf);
      expect(found.toSorted()).toEqual(expected.toSorted());
    }
  });

  it('loads everything for the OpenAPI document, once', async () => {
    const all = await load(Object.keys(ROUTE_MODULES));
    expect(all.map(nameOf).toSorted()).toEqual(ROUTES.map(nameOf).toSorted());
  });
});
