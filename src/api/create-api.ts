import { createApiApp } from './api-app.ts';
import type { ApiDeps } from './api-deps.ts';
import { tableOf } from './route-table.ts';
import { ROUTES } from './routes/routes.ts';

/**
 * The HTTP API (http-api.md) as a Hono app: the same on Node, Lambda and Workers. Everything it touches comes with `deps`.
 */
export function createApi(deps: ApiDeps): ReturnType<typeof createApiApp> {
  return createApiApp(deps, tableOf(ROUTES));
}
