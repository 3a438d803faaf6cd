import * as z from 'zod';
import { BUILT_IN_NAMES } from '../../engine/handlers/handler-names.ts';
import { notFound } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import { FilterParameter, IdPath, limitParameter, NoParameters } from '../schemas/wire-values.ts';
import {
  AttemptList,
  HandlersBody,
  showAttempt,
  showTask,
  showWorker,
  StatsBody,
  TaskList,
  TaskQuery,
  WorkerList,
  WorkerQuery,
} from '../schemas/worker.ts';

const tag = 'workers';
const parts = { method: 'GET', tag, params: NoParameters } as const;

const tasks = defineRoute({
  ...parts,
  path: '/workers/tasks',
  summary: 'List worker tasks, newest first',
  query: TaskQuery,
  responses: { 200: TaskList },
  handle: async ({ store }, { caller, filter }) => {
    const found = await store.listTasks({
      tenantId: caller.tenantId ?? filter.tenant_id,
      states: filter.state,
      handlerName: filter.handler_name,
      workerId: filter.worker_id,
      queueName: filter.queue_name,
      limit: filter.limit,
      offset: filter.offset,
    });
    return okay(found.map(showTask));
  },
});

const stats = defineRoute({
  ...parts,
  path: '/workers/tasks/stats',
  summary: 'Count worker tasks by state and handler',
  query: z.object({ tenant_id: FilterParameter }),
  responses: { 200: StatsBody },
  handle: async ({ store }, { caller, filter }) => {
    const counted = await store.taskStats(caller.tenantId ?? filter.tenant_id);
    return okay({
      by_state: counted.byState,
      by_handler: counted.byHandler,
      active_workers: counted.activeWorkers,
    });
  },
});

const attempts = defineRoute({
  ...parts,
  path: '/workers/tasks/{id}/attempts',
  summary: 'What happened to a task, oldest first',
  params: IdPath,
  query: z.object({ limit: limitParameter(100, 1000) }),
  responses: { 200: AttemptList },
  handle: async ({ store }, { caller, path, filter }) => {
    const events = await store.listTaskEvents(caller.tenantId, path.id, filter.limit);
    return events === null ? notFound('worker task', path.id) : okay(events.map(showAttempt));
  },
});

const workers = defineRoute({
  ...parts,
  path: '/workers',
  summary: 'Workers that polled, last seen first',
  query: WorkerQuery,
  responses: { 200: WorkerList },
  handle: async ({ store }, { caller, filter }) => {
    const found = await store.listWorkers(
      caller.tenantId,
      filter.alive_within_secs * 1000,
      filter.include_stale,
      { limit: filter.limit, offset: filter.offset },
    );
    return okay(found.map(showWorker));
  },
});

const handlers = defineRoute({
  ...parts,
  path: '/handlers',
  summary: 'Handlers that run in process, and those that workers have polled for',
  query: NoParameters,
  responses: { 200: HandlersBody },
  handle: async ({ store, handlerNames }, { caller }) => {
    const seen = await store.listWorkers(caller.tenantId, 0, true);
    const external = new Set(seen.flatMap((worker) => worker.handlers));
    const names = [...handlerNames].sort();
    return okay({
      builtin: names.filter((name) => BUILT_IN_NAMES.has(name)),
      external: [...external].sort(),
      local: names.filter((name) => !BUILT_IN_NAMES.has(name)),
    });
  },
});

export const workerReadRoutes = [tasks, stats, attempts, workers, handlers];
