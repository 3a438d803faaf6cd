import * as z from 'zod';
import { SequenceStatus } from '../../core/definition/document.ts';
import { mergeObjects, type JsonObject } from '../../core/json.ts';
import type { SequenceRecord } from '../../ports/store/catalog.ts';
import {
  BooleanParameter,
  FilterParameter,
  JsonObjectValue,
  optional,
  limitParameter,
  OffsetParameter,
  Uuid,
} from './wire-values.ts';

/** The stored document with status and `deprecated` of the row (http-api.md 3.1). */
export const SequenceBody = JsonObjectValue;
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
