import { referencedIds } from '../core/credentials/references.ts';
import type { WorkerTask } from '../ports/store/accept.ts';
import { reportTask } from './report-task.ts';
import { resolveCredentials } from './resolve-credentials.ts';
import type { UseCaseDeps } from './use-case.ts';

/**
 * Polled tasks with the secrets that their params refer to ([CRED-3]: workers get them here and nowhere else). A task whose
 * credential cannot be used is not handed out: its step fails with CREDENTIAL_ERROR ([CRED-2]).
 */
export async function withCredentials(
  deps: UseCaseDeps,
  tasks: readonly WorkerTask[],
): Promise<readonly WorkerTask[]> {
  const ready: WorkerTask[] = [];
  for (const task of tasks) {
    const resolved = await withSecrets(deps, task);
    if (resolved !== null) ready.push(resolved);
  }
  return ready;
}

async function withSecrets(deps: UseCaseDeps, task: WorkerTask): Promise<WorkerTask | null> {
  if (referencedIds(task.params).size === 0) return task;
  const nowMs = task.claimedAt ?? task.createdAt;
  const resolved = await resolveCredentials(deps, task.tenantId, task.params, nowMs);
  if (resolved.ok) return { ...task, params: resolved.value.params };
  const { message, retryable, code } = resolved.error;
  const outcome = { ok: false as const, message, retryable, ...(code === undefined ? {} : { code }) };
  const claim = { taskId: task.id, workerId: task.workerId ?? '', claimEpoch: task.claimEpoch };
  await reportTask(deps, { tenantId: task.tenantId, isAdmin: false }, claim, { outcome, logs: [] });
  return null;
}
