import { canonicalJson, type Json, utf8Bytes } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import type { Checkpoint } from '../ports/store/shape.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

const CHECKPOINT_BYTES_MAX = 1024 * 1024;

/** Stores data for people and tools beside an instance, in any state (20.6). 404 unknown, 413 over 1 MiB. */
export async function addCheckpoint(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
  data: Json,
): Promise<Result<string, Refusal>> {
  const bytes = utf8Bytes(canonicalJson(data));
  if (bytes > CHECKPOINT_BYTES_MAX) {
    const message = `the checkpoint has ${bytes} bytes, at most ${CHECKPOINT_BYTES_MAX} are allowed`;
    return refuse('payload_too_large', message, { code: 'checkpoint_too_large' });
  }
  const id = deps.ids.newId();
  const isStored = await deps.store.addCheckpoint({ tenantId, instanceId, id, data });
  return isStored ? ok(id) : notFound('instance', instanceId);
}

/** The newest checkpoints, newest first. 404 unknown instance. */
export async function listCheckpoints(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
  limit: number,
): Promise<Result<readonly Checkpoint[], Refusal>> {
  const checkpoints = await deps.store.listCheckpoints(tenantId, instanceId, limit);
  return checkpoints === null ? notFound('instance', instanceId) : ok(checkpoints);
}

/** 404 when there is none, or no such instance. */
export async function latestCheckpoint(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
): Promise<Result<Checkpoint, Refusal>> {
  const [latest] = (await deps.store.listCheckpoints(tenantId, instanceId, 1)) ?? [];
  return latest === undefined ? notFound('checkpoint of instance', instanceId) : ok(latest);
}

/** Keeps the newest ones and answers how many are gone; 0 removes all. 404 unknown instance. */
export async function pruneCheckpoints(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
  keep: number,
): Promise<Result<number, Refusal>> {
  if (keep < 0) return refuse('invalid_argument', 'keep must not be negative');
  const count = await deps.store.pruneCheckpoints(tenantId, instanceId, keep);
  return count === null ? notFound('instance', instanceId) : ok(count);
}
