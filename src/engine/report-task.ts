import { canonicalJson, utf8Bytes, type Json } from '../core/json.ts';
import { DEFAULT_BREAKER_RULE } from '../core/run/limits/takes.ts';
import type { TaskOutcome } from '../core/run/record.ts';
import { ok, type Result } from '../core/result.ts';
import type { HeartbeatRequest, ReportTaskRequest } from '../ports/store/accept.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { nudgeAccepted, type Caller, type UseCaseDeps } from './use-case.ts';

/** Who reports: the claim it got with the poll. */
export interface TaskClaim {
  readonly taskId: string;
  readonly workerId: string;
  readonly claimEpoch: number;
}

/** Records the result of a worker ([WRK-5] to [WRK-7]). 404 unknown task, 409 when the claim is not the live one. */
export async function reportTask(
  deps: UseCaseDeps,
  caller: Caller,
  claim: TaskClaim,
  report: { readonly outcome: TaskOutcome; readonly logs: ReportTaskRequest['logs'] },
): Promise<Result<null, Refusal>> {
  const answer = await deps.store.reportTask({
    ...claim,
    ...report,
    tenantId: caller.tenantId,
    factId: deps.ids.newId(),
    breaker: deps.limits.breakers ?? DEFAULT_BREAKER_RULE,
  });
  if (answer.status !== 'accepted') {
    return answer.status === 'not_found' ? notFound('worker task', claim.taskId) : staleClaim(claim);
  }
  await nudgeAccepted(deps, { tenantId: answer.tenantId, instanceId: answer.instanceId });
  return ok(null);
}

export interface Heartbeat {
  readonly checkpointSeq: number;
  /** The worker should stop: nobody wants the result any more. */
  readonly cancelled: boolean;
}

/** Canonical JSON of a worker's checkpoint ([WRK-11]). */
const MAX_CHECKPOINT_BYTES = 256 * 1024;

/**
 * Keeps a claim alive and stores a checkpoint under its sequence number ([WRK-11], [WRK-12]). 400 checkpoint without
 * number, 413 checkpoint too large, 404 unknown task, 409 stale claim or stale number.
 */
export async function heartbeatTask(
  deps: UseCaseDeps,
  caller: Caller,
  claim: TaskClaim,
  checkpoint: { readonly value: Json | undefined; readonly seq: number | null },
): Promise<Result<Heartbeat, Refusal>> {
  const { value, seq } = checkpoint;
  if (value !== undefined && seq === null)
    return refuse('invalid_argument', 'checkpoint needs checkpoint_seq');
  if (value !== undefined && utf8Bytes(canonicalJson(value)) > MAX_CHECKPOINT_BYTES) {
    return refuse('payload_too_large', `checkpoint exceeds ${MAX_CHECKPOINT_BYTES} bytes`);
  }
  const request: HeartbeatRequest = { ...claim, tenantId: caller.tenantId };
  const answer = await deps.store.heartbeatTask(
    value === undefined || seq === null ? request : { ...request, checkpoint: { seq, value } },
  );
  switch (answer.status) {
    case 'ok':
      return ok({ checkpointSeq: answer.checkpointSeq, cancelled: answer.cancelled });
    case 'not_found':
      return notFound('worker task', claim.taskId);
    case 'stale':
      return staleClaim(claim);
    case 'stale_checkpoint':
      return refuse('conflict', `checkpoint_seq ${seq} is not the next one of task ${claim.taskId}`, {
        code: 'stale_checkpoint',
      });
  }
}

function staleClaim(claim: TaskClaim): ReturnType<typeof refuse> {
  return refuse('conflict', `task ${claim.taskId} is not claimed by this worker under this claim_epoch`, {
    code: 'stale_claim',
  });
}
