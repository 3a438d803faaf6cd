import * as z from 'zod';
import { type OutputRow, shownOutput } from '../../core/run/output-row.ts';
import type { AuditRow, JournalRow } from '../../ports/store/reads.ts';
import type { StepLogLine } from '../../core/run/changes.ts';
import { JsonObjectValue, JsonValue, Timestamp, timestamp, Uuid } from './wire-values.ts';

/** One recorded result (http-api.md 5.4); rows of a list are in the order of execution. */
export const OutputBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  block_id: z.string(),
  output: JsonValue,
  output_ref: z.string().nullable(),
  output_size: z.int(),
  attempt: z.int(),
  /** Path of the enclosing passes, `outer:2/inner:0`; empty outside loops. */
  iteration: z.string(),
  created_at: Timestamp,
});
export type OutputBody = z.infer<typeof OutputBody>;
export const OutputList = z.array(OutputBody);

export function showOutput(row: OutputRow): OutputBody {
  return {
    id: row.id,
    instance_id: row.instanceId,
    block_id: row.blockId,
    ...shownOutput(row),
    output_size: row.outputSize,
    attempt: row.attempt,
    iteration: row.iteration,
    created_at: timestamp(row.createdAt),
  };
}

/** No other is added without a new version of the contract: clients count the entries (http-api.md 5.4). */
const AUDIT_EVENTS = ['state_transition', 'batch_action'] as const;

/** An audit entry; members that are exact-optional are left out when unset. */
export const AuditBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  tenant_id: z.string(),
  event_type: z.enum(AUDIT_EVENTS),
  from_state: z.string().exactOptional(),
  to_state: z.string().exactOptional(),
  block_id: z.string().exactOptional(),
  details: JsonObjectValue,
  created_at: Timestamp,
});
export const AuditList = z.array(AuditBody);

export function showAudit(row: AuditRow): z.infer<typeof AuditBody> {
  return {
    id: row.id,
    instance_id: row.instanceId,
    tenant_id: row.tenantId,
    event_type: row.eventType,
    ...(row.fromState === null ? {} : { from_state: row.fromState }),
    ...(row.toState === null ? {} : { to_state: row.toState }),
    ...(row.blockId === null ? {} : { block_id: row.blockId }),
    details: row.details,
    created_at: timestamp(row.createdAt),
  };
}

/** An entry of the journal: what happened to an instance beside the changes of its state (sequences.md 23). */
export const JournalBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  tenant_id: z.string(),
  kind: z.string(),
  actor: z.string().nullable(),
  details: JsonObjectValue,
  created_at: Timestamp,
});
export const JournalList = z.array(JournalBody);

export function showJournal(row: JournalRow): z.infer<typeof JournalBody> {
  return {
    id: row.id,
    instance_id: row.instanceId,
    tenant_id: row.tenantId,
    kind: row.kind,
    actor: row.actor,
    details: row.details,
    created_at: timestamp(row.createdAt),
  };
}

export const LogBody = z.object({
  block_id: z.string(),
  ts: Timestamp,
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
});
export const LogList = z.array(LogBody);

export function showLog(line: StepLogLine): z.infer<typeof LogBody> {
  return { block_id: line.blockId, ts: timestamp(line.at), level: line.level, message: line.message };
}
