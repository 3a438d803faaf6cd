import type { Route } from '../route.ts';
import { instanceActionRoutes } from './instance-actions.ts';
import { instanceReadRoutes } from './instance-reads.ts';
import { instanceRoutes } from './instances.ts';
import { sequenceRoutes } from './sequences.ts';
import { serviceRoutes } from './service.ts';

/** Every route of the API. The server, the contract tests and the OpenAPI document are made from this table. */
export const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  ...sequenceRoutes,
  ...instanceRoutes,
  ...instanceReadRoutes,
  ...instanceActionRoutes,
];
