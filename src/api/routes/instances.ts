import { startBatch, startInstance } from '../../engine/start-instances.ts';
import { readInstance } from '../../engine/read-instance.ts';
import { notFound } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, okay } from '../route.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';
import { InstanceBody, showInstance } from '../schemas/instance.ts';
import { instanceListRoutes } from './instance-lists.ts';
import { BatchBody, BatchStarted, StartBody, StartedBody } from '../schemas/start.ts';

const tag = 'instances';

const start = defineBodyRoute({
  method: 'POST',
  path: '/instances',
  tag,
  summary: 'Start an instance',
  params: NoParameters,
  query: NoParameters,
  body: StartBody,
  responses: { 201: StartedBody, 200: StartedBody },
  handle: async (deps, { caller, body }) => {
    const started = await startInstance(deps, caller, body);
    if (!started.ok) return started;
    const { id, deduplicated, conflict } = started.value;
    if (!deduplicated) return created({ id, deduplicated });
    return okay(conflict ? { id, deduplicated, conflict } : { id, deduplicated });
  },
});

const batch = defineBodyRoute({
  method: 'POST',
  path: '/instances/batch',
  tag,
  summary: 'Start several instances, all or none',
  params: NoParameters,
  query: NoParameters,
  body: BatchBody,
  responses: { 201: BatchStarted, 200: BatchStarted },
  handle: async (deps, { caller, body }) => {
    const started = await startBatch(deps, caller, body.instances);
    if (!started.ok) return started;
    const count = started.value;
    return count === 0 ? okay({ count }) : created({ count });
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/instances/{id}',
  tag,
  summary: 'Get an instance',
  params: IdPath,
  query: NoParameters,
  responses: { 200: InstanceBody },
  handle: async (deps, { caller, path }) => {
    const [view, start] = await Promise.all([
      readInstance(deps, caller.tenantId, path.id),
      deps.store.getStartInput(caller.tenantId, path.id),
    ]);
    if (view === null) return notFound('instance', path.id);
    return okay({ ...showInstance(view), ...(start === 'unknown' ? {} : start) });
  },
});

export const instanceRoutes = [start, batch, ...instanceListRoutes, get];
