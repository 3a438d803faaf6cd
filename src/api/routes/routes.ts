import type { Route } from '../route.ts';
import { approvalRoutes } from './approvals.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { instanceActionRoutes } from './instance-actions.ts';
import { instanceReadRoutes } from './instance-reads.ts';
import { instanceRoutes } from './instances.ts';
import { sequenceRoutes } from './sequences.ts';
import { serviceRoutes } from './service.ts';
import { triggerRoutes } from './triggers.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerReadRoutes } from './worker-reads.ts';
import { workerTaskRoutes } from './worker-tasks.ts';

/** Every route of the API. The server, the contract tests and the OpenAPI document are made from this table. */
export const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  ...sequenceRoutes,
  ...instanceRoutes,
  ...deadLetterRoutes,
  ...instanceReadRoutes,
  ...instanceActionRoutes,
  ...approvalRoutes,
  ...workerTaskRoutes,
  ...workerReadRoutes,
  ...triggerRoutes,
  ...webhookRoutes,
];
