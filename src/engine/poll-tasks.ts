import type { PollRequest, WorkerTask } from '../ports/store/accept.ts';
import { ok, type Result } from '../core/result.ts';
import { refuse, type Refusal } from './refusal.ts';
import { withCredentials } from './task-credentials.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** The most tasks one poll gives out. */
const MAX_POLL = 1000;

/** Gives pending tasks to a worker, oldest first ([WRK-1] to [WRK-4]); registers the worker also when there are none. */
export async function pollTasks(
  deps: UseCaseDeps,
  caller: Caller,
  request: Omit<PollRequest, 'tenantId'>,
): Promise<Result<readonly WorkerTask[], Refusal>> {
  const names = [request.handlerName, request.workerId, request.queueName ?? request.workerId];
  if (names.some((name) => name.trim() === '')) {
    return refuse('invalid_argument', 'handler_name, worker_id and queue_name must not be empty');
  }
  if (request.limit < 0) return refuse('invalid_argument', 'limit must not be negative');
  const limit = Math.min(request.limit, MAX_POLL);
  if (limit === 0) return ok([]);
  const tasks = await deps.store.pollTasks({ ...request, limit, tenantId: caller.tenantId });
  return ok(await withCredentials(deps, tasks));
}
