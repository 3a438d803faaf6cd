import type { HeartbeatRequest, ReportTaskRequest, WorkerTask } from '../../src/ports/store/accept.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { nextId } from '../support/turn-builder.ts';

/** A report of the worker that holds the task. */
export function reportOf(claimed: WorkerTask, overrides: Partial<ReportTaskRequest> = {}): ReportTaskRequest {
  return {
    tenantId: null,
    taskId: claimed.id,
    workerId: claimed.workerId ?? '',
    claimEpoch: claimed.claimEpoch,
    factId: nextId(),
    outcome: { ok: true, output: { found: true } },
    logs: [],
    ...overrides,
  };
}

/** A heartbeat of the worker that holds the task. */
export function beatOf(claimed: WorkerTask, overrides: Partial<HeartbeatRequest> = {}): HeartbeatRequest {
  return {
    tenantId: null,
    taskId: claimed.id,
    workerId: claimed.workerId ?? '',
    claimEpoch: claimed.claimEpoch,
    ...overrides,
  };
}

/** Event, epoch and worker of each event, oldest first. */
export async function eventsOf(store: Store, taskId: string): Promise<readonly (readonly unknown[])[]> {
  const events = (await store.listTaskEvents(null, taskId, 100)) ?? [];
  return events.map(({ event, claimEpoch, workerId }) => [event, claimEpoch, workerId]);
}
