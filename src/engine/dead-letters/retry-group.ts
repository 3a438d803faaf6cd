import { ok, type Result } from '../../core/result.ts';
import { notFound, refuse, type Refusal } from '../refusal.ts';
import { retryInstance } from '../set-state.ts';
import type { Caller, UseCaseDeps } from '../use-case.ts';
import type { FailedRun } from './failed-runs.ts';
import { groupedRuns } from './groups.ts';

/** Key of the metadata that a retried sample carries: the fingerprint of its group. */
const SAMPLE_MARK = 'dlq_sample_retry';
const RETRIED_AT_ONCE_MAX = 500;

export interface GroupRetry {
  readonly fingerprint: string;
  readonly mode: 'sample' | 'bulk';
  /** A sample that went well unlocks the rest. */
  readonly sampleId: string | null;
  readonly force: boolean;
  readonly limit: number;
}

export interface GroupRetried {
  readonly retried: readonly string[];
  /** No longer failed, or worked on by somebody else. */
  readonly skipped: number;
}

/**
 * Retries the newest failed instance of a group, or all of them (http-api.md 9). 404 when nothing failed with this
 * fingerprint; 409 for a bulk retry that neither is forced nor names a sample that carries the mark and completed.
 */
export async function retryGroup(
  deps: UseCaseDeps,
  caller: Caller,
  tenantId: string | null,
  retry: GroupRetry,
): Promise<Result<GroupRetried, Refusal>> {
  const groups = await groupedRuns(deps, { tenantId, sequenceId: null });
  const runs = groups.get(retry.fingerprint);
  if (runs === undefined) return notFound('dead letter group', retry.fingerprint);
  if (retry.mode === 'bulk' && !retry.force && !(await isUnlocked(deps, tenantId, retry))) {
    const message = 'a bulk retry needs a completed sample in sample_verified_instance_id, or force: true';
    return refuse('conflict', message, { code: 'bulk_retry_locked' });
  }
  const count = retry.mode === 'sample' ? 1 : Math.min(retry.limit, RETRIED_AT_ONCE_MAX);
  const mark = retry.mode === 'sample' ? { [SAMPLE_MARK]: retry.fingerprint } : {};
  return ok(await retryAll(deps, caller, runs.slice(0, count), mark));
}

async function retryAll(
  deps: UseCaseDeps,
  caller: Caller,
  runs: readonly FailedRun[],
  metadata: Readonly<Record<string, string>>,
): Promise<GroupRetried> {
  const retried: string[] = [];
  for (const { id } of runs) {
    const answer = await retryInstance(deps, caller, id, metadata);
    if (answer.ok) retried.push(id);
  }
  return { retried, skipped: runs.length - retried.length };
}

async function isUnlocked(
  deps: UseCaseDeps,
  tenantId: string | null,
  { sampleId, fingerprint }: GroupRetry,
): Promise<boolean> {
  if (sampleId === null) return false;
  const sample = await deps.store.getInstance(tenantId, sampleId);
  return sample?.state === 'completed' && sample.metadata[SAMPLE_MARK] === fingerprint;
}
