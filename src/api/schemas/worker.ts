import * as z from 'zod';
import type { TaskEvent, WorkerTask } from '../../ports/store/accept.ts';
import type { WorkerView } from '../../ports/store/reads.ts';
import {
  BooleanParameter,
  FilterParameter,
  JsonValue,
  limitParameter,
  OffsetParameter,
  optional,
  optionalTimestamp,
  Timestamp,
  timestamp,
  TimestampInput,
  Uuid,
} from './wire-values.ts';

const TaskState = z.enum(['pending', 'claimed', 'completed', 'failed']);

/** What the step's `context_access` lets through; sections without access are empty. */
const TaskContext = JsonValue.meta({
  type: 'object',
  properties: {
    data: {},
    config: { type: 'object' },
    audit: { type: 'array', items: {} },
    runtime: { type: 'object' },
  },
  required: ['data', 'config', 'audit', 'runtime'],
  additionalProperties: false,
});

/** A worker task (http-api.md 19.1). Members that are exact-optional are left out when unset. */
export const TaskBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  namespace: z.string(),
  instance_id: Uuid,
  block_id: z.string(),
  /** Path of the enclosing passes; empty outside loops. */
  iteration: z.string(),
  handler_name: z.string(),
  queue_name: z.string().exactOptional(),
  params: JsonValue,
  context: TaskContext,
  attempt: z.int(),
  timeout_ms: z.int().nullable(),
  state: TaskState,
  worker_id: z.string().nullable(),
  claimed_at: Timestamp.nullable(),
  heartbeat_at: Timestamp.nullable(),
  claim_epoch: z.int(),
  resume_checkpoint: JsonValue.exactOptional(),
  checkpoint_seq: z.int(),
  redelivery: z.boolean(),
  idempotency_key: z.string(),
  completed_at: Timestamp.nullable(),
  output: JsonValue,
  error_message: z.string().nullable(),
  error_retryable: z.boolean().nullable(),
  created_at: Timestamp,
});
export const TaskList = z.array(TaskBody);

export function showTask(task: WorkerTask): z.infer<typeof TaskBody> {
  return {
    id: task.id,
    tenant_id: task.tenantId,
    namespace: task.namespace,
    instance_id: task.instanceId,
    block_id: task.blockId,
    iteration: task.iteration,
    handler_name: task.handlerName,
    ...(task.queueName === null ? {} : { queue_name: task.queueName }),
    params: task.params,
    context: task.context,
    attempt: task.attempt,
    timeout_ms: task.timeoutMs,
    state: task.state,
    worker_id: task.workerId,
    claimed_at: optionalTimestamp(task.claimedAt),
    heartbeat_at: optionalTimestamp(task.heartbeatAt),
    claim_epoch: task.claimEpoch,
    ...(task.resumeCheckpoint === null ? {} : { resume_checkpoint: task.resumeCheckpoint }),
    checkpoint_seq: task.checkpointSeq,
    redelivery: task.redelivery,
    idempotency_key: task.idempotencyKey,
    completed_at: optionalTimestamp(task.completedAt),
    output: task.output,
    error_message: task.errorMessage,
    error_retryable: task.errorRetryable,
    created_at: timestamp(task.createdAt),
  };
}

export const PollBody = z.object({
  handler_name: z.string(),
  worker_id: z.string(),
  limit: z
    .int32()
    .nullish()
    .transform((limit) => limit ?? 1),
  version: optional(z.string()),
});
export const QueuePollBody = PollBody.extend({ queue_name: z.string() });

const claim = { worker_id: z.string(), claim_epoch: z.int32() };

/** Lines of one report, and characters of one line; what is beyond is cut off. */
const MAX_LOG_LINES = 1000;
const MAX_LOG_LENGTH = 8192;

const LogLines = z
  .array(
    z.object({
      ts: TimestampInput.transform(timestamp),
      level: z.string().max(32),
      message: z.string().transform((text) => text.slice(0, MAX_LOG_LENGTH)),
    }),
  )
  .nullish()
  .transform((lines) => (lines ?? []).slice(0, MAX_LOG_LINES));

export const CompleteBody = z.object({ ...claim, output: JsonValue, logs: LogLines });

export const FailBody = z.object({
  ...claim,
  message: z.string(),
  retryable: z
    .boolean()
    .nullish()
    .transform((retryable) => retryable ?? false),
  code: optional(z.string().min(1).max(255)),
  details: JsonValue.exactOptional(),
  logs: LogLines,
});

export const HeartbeatBody = z.object({
  ...claim,
  checkpoint: JsonValue.exactOptional(),
  checkpoint_seq: optional(z.int32()),
});
export const HeartbeatReply = z.object({
  ok: z.literal(true),
  checkpoint_seq: z.int(),
  cancelled: z.boolean(),
});

export const TaskQuery = z.object({
  tenant_id: FilterParameter,
  state: FilterParameter.transform((text) =>
    text === null ? [] : text.split(',').map((name) => name.trim()),
  ).pipe(z.array(TaskState)),
  handler_name: FilterParameter,
  worker_id: FilterParameter,
  queue_name: FilterParameter,
  limit: limitParameter(50, 1000),
  offset: OffsetParameter,
});

const Counts = z.record(z.string(), z.int());
export const StatsBody = z.object({
  by_state: Counts,
  by_handler: z.record(z.string(), Counts),
  active_workers: z.array(z.string()),
});

export const AttemptBody = z.object({
  id: Uuid,
  task_id: Uuid,
  claim_epoch: z.int(),
  worker_id: z.string().exactOptional(),
  event: z.enum([
    'claimed',
    'reclaimed',
    'completed',
    'failed',
    'timed_out',
    'cancelled',
    'stale_mutation_rejected',
  ]),
  reason: z.string().exactOptional(),
  created_at: Timestamp,
});
export const AttemptList = z.array(AttemptBody);

export function showAttempt(event: TaskEvent): z.infer<typeof AttemptBody> {
  return {
    id: event.id,
    task_id: event.taskId,
    claim_epoch: event.claimEpoch,
    ...(event.workerId === null ? {} : { worker_id: event.workerId }),
    event: event.event,
    ...(event.reason === null ? {} : { reason: event.reason }),
    created_at: timestamp(event.createdAt),
  };
}

export const WorkerQuery = z.object({
  alive_within_secs: limitParameter(60, 86_400),
  include_stale: BooleanParameter.default(false),
  limit: limitParameter(1000, 1000),
  offset: OffsetParameter,
});

export const WorkerBody = z.object({
  worker_id: z.string(),
  handlers: z.array(z.string()),
  queues: z.array(z.string()),
  version: z.string().nullable(),
  last_seen_at: Timestamp,
  alive: z.boolean(),
  in_flight: z.int(),
});
export const WorkerList = z.array(WorkerBody);

export function showWorker(worker: WorkerView): z.infer<typeof WorkerBody> {
  return {
    worker_id: worker.workerId,
    handlers: [...worker.handlers],
    queues: [...worker.queues],
    version: worker.version,
    last_seen_at: timestamp(worker.lastSeenAt),
    alive: worker.alive,
    in_flight: worker.inFlight,
  };
}

/** `local`: handlers of the user's own that run in this process. */
export const HandlersBody = z.object({
  builtin: z.array(z.string()),
  external: z.array(z.string()),
  local: z.array(z.string()),
});
