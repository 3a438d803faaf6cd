import * as z from 'zod';
import { mergeObjects } from '../../core/json.ts';
import { PRIORITIES } from '../../core/run/states.ts';
import type { WaitsFor } from '../../core/run/waits-for.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import {
  InstanceStateName,
  JsonObjectValue,
  JsonValue,
  optionalTimestamp,
  PriorityName,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

/** Owned by the engine (sequences.md 11.4); a client cannot write it. */
const RuntimeBody = z.object({
  instance_id: Uuid,
  run_id: Uuid,
  current_step: z.string().nullable(),
  attempt: z.int(),
  started_at: Timestamp.nullable(),
  current_step_started_at: Timestamp.nullable(),
  resource_key: z.string().nullable(),
  total_steps_executed: z.int(),
  dry_run: z.boolean(),
  dry_run_auto_approve: z.boolean(),
});

export const ContextBody = z.object({
  data: JsonValue,
  config: JsonObjectValue,
  audit: z.array(JsonValue),
  runtime: RuntimeBody,
});

/** `start`: the run has not begun. `concurrency`: no slot of its key is free. `poll`: between two passes. Else as in the tree. */
const WaitsForBody = z.object({
  reason: z.string(),
  block_id: z.string().nullable(),
  wake_at: Timestamp.nullable(),
});

/** One instance (http-api.md 5.1). Members that are exact-optional are left out when unset. */
export const InstanceBody = z.object({
  id: Uuid,
  sequence_id: Uuid,
  tenant_id: z.string(),
  namespace: z.string(),
  state: InstanceStateName,
  next_fire_at: Timestamp.nullable(),
  priority: PriorityName,
  timezone: z.string(),
  metadata: JsonObjectValue,
  context: ContextBody,
  concurrency_key: z.string().exactOptional(),
  max_concurrency: z.int().exactOptional(),
  /** null when none was given (RULINGS B26). */
  idempotency_key: z.string().nullable(),
  session_id: Uuid.exactOptional(),
  parent_instance_id: Uuid.exactOptional(),
  budget: JsonObjectValue.exactOptional(),
  /** Since when a cancel drains what is protected ([CAN-5]). */
  cancel_requested_at: Timestamp.exactOptional(),
  /** The data of the start as it came, unchanged for ever; shown by `GET /instances/{id}` alone. */
  input: JsonValue.exactOptional(),
  /** What it waits for, in lists; null for nothing, or for nothing that is known. */
  waits_for: WaitsForBody.nullable().exactOptional(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type InstanceBody = z.infer<typeof InstanceBody>;

export const InstancePage = z.object({
  items: z.array(InstanceBody),
  has_more: z.boolean(),
  /** For the page behind this one; absent when there is none. */
  next_cursor: z.string().exactOptional(),
});
export const InstanceList = z.array(InstanceBody);

export function showInstance(view: InstanceView): InstanceBody {
  return {
    id: view.id,
    sequence_id: view.sequenceId,
    tenant_id: view.tenantId,
    namespace: view.namespace,
    state: view.state,
    next_fire_at: optionalTimestamp(view.nextFireAt),
    priority: PRIORITIES[view.priority] ?? 'Normal',
    timezone: view.timezone,
    metadata: showMetadata(view),
    context: showContext(view),
    ...(view.concurrencyKey === null ? {} : { concurrency_key: view.concurrencyKey }),
    ...(view.maxConcurrency === null ? {} : { max_concurrency: view.maxConcurrency }),
    idempotency_key: view.idempotencyKey,
    ...(view.sessionId === null ? {} : { session_id: view.sessionId }),
    ...(view.parent === null ? {} : { parent_instance_id: view.parent.instanceId }),
    ...(view.budget === null ? {} : { budget: view.budget }),
    ...(view.cancelRequestedAt === null ? {} : { cancel_requested_at: timestamp(view.cancelRequestedAt) }),
    created_at: timestamp(view.createdAt),
    updated_at: timestamp(view.updatedAt),
  };
}

/** `_injected_blocks` is made by the engine ([OP-10]); it is there once blocks have been injected. */
function showMetadata({ metadata, injected }: InstanceView): InstanceBody['metadata'] {
  if (injected === undefined || injected === null || injected.length === 0) return metadata;
  return mergeObjects(metadata, { _injected_blocks: injected });
}

export function showContext(view: InstanceView): z.infer<typeof ContextBody> {
  const step = view.currentStep;
  return {
    data: view.data,
    config: view.config,
    audit: [...view.audit],
    runtime: {
      instance_id: view.id,
      run_id: view.runId,
      current_step: step?.blockId ?? null,
      attempt: step?.attempt ?? 0,
      started_at: optionalTimestamp(view.startedAt),
      current_step_started_at: optionalTimestamp(step?.startedAt ?? null),
      resource_key: view.currentStep?.resource ?? null,
      total_steps_executed: view.totalSteps,
      dry_run: view.dryRun,
      dry_run_auto_approve: view.dryRunAutoApprove,
    },
  };
}

/** How many there are in each state, none counted further than `counted_to`. */
export const InstanceSummaryBody = z.object({
  counts: z.record(InstanceStateName, z.int()),
  counted_to: z.int(),
  /** States that have at least `counted_to`. */
  capped: z.array(InstanceStateName),
});

export function showWaitsFor(wait: WaitsFor | null): InstanceBody['waits_for'] {
  if (wait === null) return null;
  return { reason: wait.reason, block_id: wait.blockId, wake_at: optionalTimestamp(wait.wakeAt) };
}
