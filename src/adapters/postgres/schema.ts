import { boolean, customType, integer, pgSchema, smallint, text, uuid } from 'drizzle-orm/pg-core';
import type { Json } from '../../core/json.ts';
import type { TriggerRecord } from '../../ports/store/catalog.ts';

/**
 * The tables as drizzle sees them, for everything that is not a hot function. The migrations make them; a test compares
 * both. Columns of partitions, generated columns and indexes are the migrations' alone.
 */
const stepwell = pgSchema('stepwell');

/** timestamptz as epoch milliseconds. */
const instant = customType<{ data: number; driverData: Date | string }>({
  dataType: () => 'timestamp with time zone',
  fromDriver: (value) => (value instanceof Date ? value.getTime() : Date.parse(value)),
  toDriver: (value) => new Date(value).toISOString(),
});

/** drizzle's own jsonb parses strings a second time, so a stored "5" would come back as 5. */
const json = customType<{ data: Json; driverData: unknown }>({
  dataType: () => 'jsonb',
  toDriver: (value) => JSON.stringify(value),
});

/** bigint that stays within the safe integers: revs, seqs, epochs. */
const whole = customType<{ data: number; driverData: string | number | bigint }>({
  dataType: () => 'bigint',
  fromDriver: Number,
});

const textList = customType<{ data: string[]; driverData: string[] }>({ dataType: () => 'text[]' });

export const sequences = stepwell.table('sequences', {
  id: uuid('id').notNull(),
  tenantId: text('tenant_id').notNull(),
  namespace: text('namespace').notNull(),
  name: text('name').notNull(),
  version: integer('version').notNull(),
  status: text('status').notNull(),
  deprecated: boolean('deprecated').notNull(),
  definition: json('definition').notNull(),
  contentHash: text('content_hash').notNull(),
  createdAt: instant('created_at').notNull(),
});

export const taskInstances = stepwell.table('task_instances', {
  id: uuid('id').notNull(),
  sequenceId: uuid('sequence_id').notNull(),
  runId: uuid('run_id').notNull(),
  parentInstanceId: uuid('parent_instance_id'),
  createdAt: instant('created_at').notNull(),
  parentEntry: integer('parent_entry'),
  depth: integer('depth').notNull(),
  maxConcurrency: integer('max_concurrency'),
  priority: smallint('priority').notNull(),
  dryRun: boolean('dry_run').notNull(),
  dryRunAutoApprove: boolean('dry_run_auto_approve').notNull(),
  dryRunRealTime: boolean('dry_run_real_time').notNull(),
  tenantId: text('tenant_id').notNull(),
  namespace: text('namespace').notNull(),
  timezone: text('timezone').notNull(),
  metadata: json('metadata').notNull(),
  config: json('config').notNull(),
  audit: json('audit').notNull(),
  parentBlockId: text('parent_block_id'),
  parentIteration: text('parent_iteration'),
  sessionId: text('session_id'),
  concurrencyKey: text('concurrency_key'),
  idempotencyKey: text('idempotency_key'),
  budget: json('budget'),
  usage: json('usage'),
  state: text('state').notNull(),
  nextFireAt: instant('next_fire_at'),
  dueAt: instant('due_at'),
  leaseUntil: instant('lease_until'),
  leaseToken: uuid('lease_token'),
  leaseOwner: text('lease_owner'),
  epoch: whole('epoch').notNull(),
  openWaits: integer('open_waits').notNull(),
  wakeSeq: whole('wake_seq').notNull(),
  seenSeq: whole('seen_seq').notNull(),
  cancelSeq: whole('cancel_seq').notNull(),
  cancelRequestedAt: instant('cancel_requested_at'),
  updatedAt: instant('updated_at').notNull(),
  failure: json('failure'),
  hooksPending: json('hooks_pending'),
  gateOpenedAt: whole('gate_opened_at'),
  data: json('data').notNull(),
  startedAt: instant('started_at'),
  runNo: integer('run_no').notNull(),
  recoveryCount: integer('recovery_count').notNull(),
  claimsWithoutProgress: integer('claims_without_progress').notNull(),
  claimedAmong: integer('claimed_among').notNull(),
  waitsForSlot: boolean('waits_for_slot').notNull(),
  suspect: boolean('suspect').notNull(),
  company: integer('company'),
  granted: boolean('granted').notNull(),
  hasHistory: boolean('has_history').notNull(),
  hasChildren: boolean('has_children').notNull(),
  committedToken: uuid('committed_token'),
  rev: whole('rev').notNull(),
  totalSteps: whole('total_steps').notNull(),
  progressAt: instant('progress_at').notNull(),
  currentStep: json('current_step'),
  rootFrame: json('root_frame'),
  shape: json('shape'),
});

export const blockOutputs = stepwell.table('block_outputs', {
  id: uuid('id').notNull(),
  instanceId: uuid('instance_id').notNull(),
  rev: whole('rev').notNull(),
  createdAt: instant('created_at').notNull(),
  startedAt: instant('started_at'),
  runNo: integer('run_no').notNull(),
  ordinal: integer('ordinal').notNull(),
  attempt: integer('attempt').notNull(),
  outputSize: integer('output_size').notNull(),
  supersededBy: integer('superseded_by'),
  tenantId: text('tenant_id').notNull(),
  blockId: text('block_id').notNull(),
  iteration: text('iteration').notNull(),
  kind: text('kind').notNull(),
  output: json('output').notNull(),
});

export const workerTasks = stepwell.table('worker_tasks', {
  id: uuid('id').notNull(),
  tenantId: text('tenant_id').notNull(),
  namespace: text('namespace').notNull(),
  instanceId: uuid('instance_id').notNull(),
  blockId: text('block_id').notNull(),
  iteration: text('iteration').notNull(),
  handlerName: text('handler_name').notNull(),
  queueName: text('queue_name'),
  params: json('params').notNull(),
  context: json('context').notNull(),
  attempt: integer('attempt').notNull(),
  timeoutMs: whole('timeout_ms'),
  idempotencyKey: text('idempotency_key').notNull(),
  ofHook: boolean('of_hook').notNull(),
  atMostOnce: boolean('at_most_once').notNull(),
  state: text('state').notNull(),
  closedBy: text('closed_by'),
  workerId: text('worker_id'),
  claimEpoch: integer('claim_epoch').notNull(),
  claimedAt: instant('claimed_at'),
  heartbeatAt: instant('heartbeat_at'),
  checkpoint: json('checkpoint'),
  checkpointSeq: integer('checkpoint_seq').notNull(),
  output: json('output'),
  errorMessage: text('error_message'),
  errorRetryable: boolean('error_retryable'),
  errorCode: text('error_code'),
  errorDetails: json('error_details'),
  createdAt: instant('created_at').notNull(),
  completedAt: instant('completed_at'),
});

export const workerTaskEvents = stepwell.table('worker_task_events', {
  taskId: uuid('task_id').notNull(),
  ordinal: whole('ordinal').notNull(),
  id: uuid('id').notNull(),
  tenantId: text('tenant_id').notNull(),
  instanceId: uuid('instance_id').notNull(),
  claimEpoch: integer('claim_epoch').notNull(),
  workerId: text('worker_id'),
  event: text('event').notNull(),
  reason: text('reason'),
  createdAt: instant('created_at').notNull(),
});

export const workerRegistry = stepwell.table('worker_registry', {
  tenantId: text('tenant_id').notNull(),
  workerId: text('worker_id').notNull(),
  handlerName: text('handler_name').notNull(),
  queues: textList('queues').notNull(),
  version: text('version'),
  registeredAt: instant('registered_at').notNull(),
  lastSeenAt: instant('last_seen_at').notNull(),
});

export const auditLog = stepwell.table('audit_log', {
  tenantId: text('tenant_id').notNull(),
  instanceId: uuid('instance_id').notNull(),
  ordinal: whole('ordinal').notNull(),
  id: uuid('id').notNull(),
  eventType: text('event_type').notNull(),
  fromState: text('from_state'),
  toState: text('to_state'),
  blockId: text('block_id'),
  details: json('details').notNull(),
  createdAt: instant('created_at').notNull(),
});

export const journal = stepwell.table('journal', {
  tenantId: text('tenant_id').notNull(),
  instanceId: uuid('instance_id').notNull(),
  ordinal: whole('ordinal').notNull(),
  id: uuid('id').notNull(),
  kind: text('kind').notNull(),
  actor: text('actor'),
  details: json('details').notNull(),
  createdAt: instant('created_at').notNull(),
});

export const stepLogs = stepwell.table('step_logs', {
  tenantId: text('tenant_id').notNull(),
  instanceId: uuid('instance_id').notNull(),
  ordinal: whole('ordinal').notNull(),
  blockId: text('block_id').notNull(),
  level: text('level').notNull(),
  message: text('message').notNull(),
  loggedAt: instant('logged_at').notNull(),
});

export const triggers = stepwell.table('triggers', {
  slug: text('slug').notNull(),
  tenantId: text('tenant_id').notNull(),
  namespace: text('namespace').notNull(),
  sequenceName: text('sequence_name').notNull(),
  version: integer('version'),
  enabled: boolean('enabled').notNull(),
  secret: text('secret'),
  triggerType: text('trigger_type').$type<TriggerRecord['triggerType']>().notNull(),
  config: json('config').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
});
