import * as z from 'zod';
import type { DeadLetter } from '../../engine/dead-letters/failed-runs.ts';
import type { DeadLetterGroup } from '../../engine/dead-letters/groups.ts';
import { InstanceBody, showInstance } from './instance.ts';
import {
  FilterParameter,
  JsonObjectValue,
  optional,
  Timestamp,
  timestamp,
  Uuid,
  UuidFilter,
} from './wire-values.ts';

/** A failed instance and what it failed of (sequences.md 15.7). */
export const DeadLetterBody = InstanceBody.extend({
  failed_block_id: z.string().nullable(),
  error: JsonObjectValue.nullable(),
  failed_at: Timestamp,
  /** 16 hex digits; the group that it belongs to. */
  fingerprint: z.string(),
});
export const DeadLetterList = z.array(DeadLetterBody);

export function showDeadLetter({ instance, fingerprint }: DeadLetter): z.infer<typeof DeadLetterBody> {
  return {
    ...showInstance(instance),
    failed_block_id: instance.failure?.blockId ?? null,
    error: instance.failure?.error ?? null,
    failed_at: timestamp(instance.updatedAt),
    fingerprint: fingerprint.fingerprint,
  };
}

const ERROR_CLASSES = [
  'application',
  'configuration',
  'worker',
  'credential',
  'policy',
  'external_dependency',
  'timeout',
  'cancelled',
  'internal',
] as const;

const GROUP_CODES = [
  'HTTP_STATUS',
  'TIMEOUT',
  'CREDENTIAL',
  'NO_WORKER',
  'CIRCUIT_OPEN',
  'BUDGET_EXCEEDED',
  'RATE_LIMITED',
  'URL_POLICY',
  'CONFIGURATION',
  'CANCELLED',
  'TRANSPORT',
  'unknown',
] as const;

/** Failures with one fingerprint (http-api.md 9). */
export const DeadLetterGroupBody = z.object({
  fingerprint: z.string(),
  components: z.array(z.string()),
  error_class: z.enum(ERROR_CLASSES),
  error_code: z.enum(GROUP_CODES),
  sample_message: z.string(),
  count: z.int(),
  first_occurrence: Timestamp,
  last_occurrence: Timestamp,
  sequences: z.array(z.string()),
  blocks: z.array(z.string()),
  handlers: z.array(z.string()),
  sample_instance_ids: z.array(Uuid),
});
export const DeadLetterGroups = z.array(DeadLetterGroupBody);

export const DeadLetterGroupQuery = z.object({ tenant_id: FilterParameter, sequence_id: UuidFilter });
export const GroupRetryQuery = z.object({ tenant_id: FilterParameter });
export const FingerprintPath = z.object({ fingerprint: z.string() });

export function showGroup(group: DeadLetterGroup): z.infer<typeof DeadLetterGroupBody> {
  return {
    fingerprint: group.fingerprint,
    components: [...group.components],
    error_class: group.errorClass,
    error_code: group.code,
    sample_message: group.sampleMessage,
    count: group.count,
    first_occurrence: timestamp(group.firstOccurrence),
    last_occurrence: timestamp(group.lastOccurrence),
    sequences: [...group.sequences],
    blocks: [...group.blocks],
    handlers: [...group.handlers],
    sample_instance_ids: [...group.sampleInstanceIds],
  };
}

const RETRIED_STANDARD = 100;

export const GroupRetryBody = z.object({
  mode: z.enum(['sample', 'bulk']),
  sample_verified_instance_id: optional(Uuid),
  force: z
    .boolean()
    .nullish()
    .transform((force) => force === true),
  limit: z
    .int()
    .min(0)
    .nullish()
    .transform((limit) => limit ?? RETRIED_STANDARD),
});
export const GroupRetriedBody = z.object({
  fingerprint: z.string(),
  mode: z.enum(['sample', 'bulk']),
  retried: z.array(Uuid),
  skipped: z.int(),
});
