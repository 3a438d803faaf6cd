import * as z from 'zod';
import { SequenceStatus } from '../../core/definition/document.ts';
import { mergeObjects, type JsonObject } from '../../core/json.ts';
import type { SequenceRecord } from '../../ports/store/catalog.ts';
import {
  BooleanParameter,
  FilterParameter,
  JsonObjectValue,
  JsonValue,
  optional,
  limitParameter,
  OffsetParameter,
  Timestamp,
  Uuid,
} from './wire-values.ts';

const Blocks = z.array(JsonObjectValue);

/** The stored document with status and `deprecated` of the row (http-api.md 3.1). Blocks are shown as they were sent. */
export const SequenceBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  namespace: z.string(),
  name: z.string(),
  version: z.int(),
  deprecated: z.boolean(),
  status: SequenceStatus,
  blocks: Blocks,
  input_schema: JsonValue.exactOptional(),
  sla: z
    .object({ max_runtime: z.int().exactOptional(), max_step_runtime: z.int().exactOptional() })
    .exactOptional(),
  interceptors: JsonObjectValue.exactOptional(),
  on_failure: Blocks.exactOptional(),
  on_cancel: Blocks.exactOptional(),
  created_at: Timestamp,
  /** Instances that have not ended, where they were asked for. */
  live_runs: z.int().exactOptional(),
});
export const SequencePage = z.object({ items: z.array(SequenceBody), has_more: z.boolean() });
export const SequenceList = z.array(SequenceBody);

export const PublishedBody = z.object({
  id: Uuid,
  /** One text each; left out when there are none. */
  warnings: z.array(z.string()).exactOptional(),
  /** The same with code, block and place (sequences.md 3.3). */
  warning_details: z
    .array(
      z.object({
        code: z.string(),
        block_id: z.string().exactOptional(),
        path: z.string().exactOptional(),
        message: z.string(),
      }),
    )
    .exactOptional(),
});

export const SequenceQuery = z.object({
  tenant_id: FilterParameter,
  namespace: FilterParameter,
  name: FilterParameter,
  /** `true` adds `live_runs` to each version: its instances that have not ended, counted up to 10,000. */
  live_runs: BooleanParameter.default(false),
  limit: limitParameter(200, 1000),
  offset: OffsetParameter,
});

export const SequenceListQuery = SequenceQuery.omit({ limit: true, offset: true });

/** `tenant_id` may be absent where the call has a tenant anyway. */
export const SequenceNameQuery = z.object({
  tenant_id: FilterParameter,
  namespace: z.string(),
  name: z.string(),
  version: z
    .string()
    .regex(/^-?\d{1,10}$/, { error: 'expected a whole number' })
    .transform(Number)
    .refine((version) => Math.abs(version) < 2 ** 31, { error: 'is too large' })
    .exactOptional(),
});

export const SequenceVersionsQuery = SequenceNameQuery.extend({ live_runs: BooleanParameter.default(false) });

export const StatusBody = z.object({ status: SequenceStatus });

/** The document as it was stored, with what may have changed since ([VER-1]). */
export function showSequence(record: SequenceRecord): JsonObject {
  const { definition, status, deprecated } = record;
  return mergeObjects(definition, { status, deprecated });
}

export const NamePath = z.object({ name: z.string() });
export const PromotedBody = z.object({ id: Uuid, version: z.int() });

/** An empty body means the same as `{}`. */
export const UnpublishBody = z
  .object({ delete: optional(z.boolean()) })
  .optional()
  .transform((body) => ({ isDeleted: body?.delete ?? false }));
