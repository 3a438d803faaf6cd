import * as z from 'zod';
import type { Approval } from '../../engine/list-approvals.ts';
import {
  FilterParameter,
  JsonObjectValue,
  limitParameter,
  OffsetParameter,
  optionalTimestamp,
  Timestamp,
  timestamp,
  Uuid,
  UuidFilter,
} from './wire-values.ts';

/** A gate that waits for a person (http-api.md 10). */
export const ApprovalBody = z.object({
  instance_id: Uuid,
  tenant_id: z.string(),
  namespace: z.string(),
  sequence_id: Uuid,
  sequence_name: z.string(),
  block_id: z.string(),
  /** Path of the enclosing passes; an answer names it where several items wait at one gate. */
  iteration: z.string(),
  prompt: z.string(),
  choices: z.array(z.object({ label: z.string(), value: z.string() })),
  store_as: z.string().nullable(),
  timeout_seconds: z.int().nullable(),
  escalation_handler: z.string().nullable(),
  waiting_since: Timestamp,
  deadline: Timestamp.nullable(),
  metadata: JsonObjectValue,
  allow_comment: z.boolean(),
});
export const ApprovalPage = z.object({ items: z.array(ApprovalBody), total: z.int() });

export const ApprovalQuery = z.object({
  tenant_id: FilterParameter,
  namespace: FilterParameter,
  instance_id: UuidFilter,
  sequence_id: UuidFilter,
  order: z.enum(['newest', 'deadline']).default('newest'),
  offset: OffsetParameter,
  limit: limitParameter(100, 1000),
});

export function showApproval({
  instance,
  sequenceName,
  blockId,
  iteration,
  gate,
  storeAs,
}: Approval): z.infer<typeof ApprovalBody> {
  const { timeoutMs, openedAt } = gate;
  return {
    instance_id: instance.id,
    tenant_id: instance.tenantId,
    namespace: instance.namespace,
    sequence_id: instance.sequenceId,
    sequence_name: sequenceName,
    block_id: blockId,
    iteration,
    prompt: gate.prompt,
    choices: [...gate.choices],
    store_as: storeAs,
    timeout_seconds: timeoutMs === null ? null : Math.floor(timeoutMs / 1000),
    escalation_handler: gate.escalationHandler,
    waiting_since: timestamp(openedAt),
    deadline: optionalTimestamp(timeoutMs === null ? null : openedAt + timeoutMs),
    metadata: instance.metadata,
    allow_comment: gate.allowComment,
  };
}
