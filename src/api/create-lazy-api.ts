import { createApiApp } from './api-app.ts';
import type { ApiDeps } from './api-deps.ts';
import type { Route } from './route.ts';
import { ROUTE_MODULES, ROUTE_PATHS } from './routes/route-paths.generated.ts';

/**
 * The same API, for functions: each route is loaded when it is first called, since what a new process has to load before it
 * can answer is what its first caller waits for (docs/decisions/0014).
 */
export function createLazyApi(deps: ApiDeps): ReturnType<typeof createApiApp> {
  const paths = ROUTE_PATHS.map(({ path, isRoot, modules }) => ({
    path,
    isRoot,
    load: async () => (await routesOf(modules)).filter((route) => route.path === path),
  }));
  return createApiApp(deps, { paths, all: () => routesOf(Object.keys(ROUTE_MODULES)) });
}

async function routesOf(modules: readonly string[]): Promise<readonly Route[]> {
  const loaded = await Promise.all(modules.map(async (name) => (await ROUTE_MODULES[name]?.()) ?? []));
  return loaded.flat();
}
