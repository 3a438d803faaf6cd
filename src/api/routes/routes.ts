import type { Route } from '../route.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { approvalRoutes } from './approvals.ts';
import { artifactRoutes } from './artifacts.ts';
import { changeRoutes } from './changes.ts';
import { cronRoutes } from './cron.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { clusterRoutes } from './cluster.ts';
import { credentialRoutes } from './credentials.ts';
import { diagnosisRoutes } from './diagnosis.ts';
import { effectRoute } from './effects.ts';
import { eventRoutes } from './events.ts';
import { instanceActionRoutes } from './instance-actions.ts';
import { instanceShapeRoutes } from './instance-shape.ts';
import { instanceStreamRoute } from './instance-stream.ts';
import { instanceReadRoutes } from './instance-reads.ts';
import { instanceRoutes } from './instances.ts';
import { limitRoutes } from './limits.ts';
import { limitsOverviewRoute } from './limits-overview.ts';
import { manyInstancesRoutes } from './many-instances.ts';
import { outboxRoutes } from './outbox.ts';
import { pluginRoutes } from './plugins.ts';
import { poolRoutes } from './pools.ts';
import { preflightRoutes } from './preflight.ts';
import { routingRuleRoutes } from './routing-rules.ts';
import { runOperationRoutes } from './run-operations.ts';
import { sequenceRoutes } from './sequences.ts';
import { serviceRoutes } from './service.ts';
import { sessionRoutes } from './sessions.ts';
import { swaggerUiRoutes } from './swagger-ui.ts';
import { templateTraceRoutes } from './template-traces.ts';
import { triggerRoutes } from './triggers.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerAdminRoutes } from './worker-admin.ts';
import { workerReadRoutes } from './worker-reads.ts';
import { workerTaskRoutes } from './worker-tasks.ts';

/** Every route of the API. The server, the contract tests and the OpenAPI document are made from this table. */
export const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  ...swaggerUiRoutes,
  ...sequenceRoutes,
  ...preflightRoutes,
  ...templateTraceRoutes,
  ...instanceRoutes,
  ...deadLetterRoutes,
  instanceStreamRoute,
  ...changeRoutes,
  ...apiKeyRoutes,
  ...instanceReadRoutes,
  effectRoute,
  ...artifactRoutes,
  ...instanceActionRoutes,
  ...instanceShapeRoutes,
  ...runOperationRoutes,
  ...diagnosisRoutes,
  ...approvalRoutes,
  ...workerTaskRoutes,
  ...workerReadRoutes,
  ...workerAdminRoutes,
  ...routingRuleRoutes,
  ...manyInstancesRoutes,
  ...cronRoutes,
  ...sessionRoutes,
  ...eventRoutes,
  ...credentialRoutes,
  limitsOverviewRoute,
  ...limitRoutes,
  ...poolRoutes,
  ...pluginRoutes,
  ...triggerRoutes,
  ...webhookRoutes,
  ...outboxRoutes,
  ...clusterRoutes,
];
