import * as z from 'zod';
import type { FirePreview, ScheduleChange, ScheduleInput } from '../../engine/schedules.ts';
import { OVERLAP_POLICIES, type ScheduleRecord } from '../../ports/store/schedules.ts';
import {
  FilterParameter,
  JsonObjectValue,
  limitParameter,
  OffsetParameter,
  optional,
  rangeParameter,
  optionalTimestamp,
  Timestamp,
  timestamp,
  TimestampInput,
  Uuid,
} from './wire-values.ts';

const Overlap = z.enum(OVERLAP_POLICIES);

/** Body of `POST /cron` (http-api.md 11). Whether expression and zone mean something is a rule of the use case (400). */
export const ScheduleBodyInput = z
  .object({
    tenant_id: z.string().min(1, { error: 'must not be empty' }).max(255),
    namespace: z.string().max(255),
    sequence_id: Uuid,
    cron_expr: z.string(),
    timezone: optional(z.string()),
    metadata: optional(JsonObjectValue),
    enabled: optional(z.boolean()),
    overlap_policy: optional(Overlap),
  })
  .transform(
    (body): ScheduleInput => ({
      tenantId: body.tenant_id,
      namespace: body.namespace,
      sequenceId: body.sequence_id,
      cronExpr: body.cron_expr,
      timezone: body.timezone ?? 'UTC',
      metadata: body.metadata ?? {},
      enabled: body.enabled ?? true,
      overlapPolicy: body.overlap_policy ?? 'allow',
    }),
  );

/** Body of `PUT /cron/{id}`: what is absent or null stays. */
export const ScheduleChangeBody = z
  .object({
    cron_expr: optional(z.string()),
    timezone: optional(z.string()),
    enabled: optional(z.boolean()),
    metadata: optional(JsonObjectValue),
    overlap_policy: optional(Overlap),
  })
  .transform(
    (body): ScheduleChange => ({
      ...(body.cron_expr === null ? {} : { cronExpr: body.cron_expr }),
      ...(body.timezone === null ? {} : { timezone: body.timezone }),
      ...(body.enabled === null ? {} : { enabled: body.enabled }),
      ...(body.metadata === null ? {} : { metadata: body.metadata }),
      ...(body.overlap_policy === null ? {} : { overlapPolicy: body.overlap_policy }),
    }),
  );

export const ScheduleCreated = z.object({ id: Uuid, next_fire_at: Timestamp.nullable() });

export const ScheduleBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  namespace: z.string(),
  sequence_id: Uuid,
  cron_expr: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  metadata: JsonObjectValue,
  overlap_policy: Overlap,
  skipped_fires: z.int(),
  last_skipped_at: Timestamp.nullable(),
  last_triggered_at: Timestamp.nullable(),
  next_fire_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const ScheduleList = z.array(ScheduleBody);

export const ScheduleQuery = z.object({
  tenant_id: FilterParameter,
  offset: OffsetParameter,
  limit: limitParameter(100, 1000),
});

const STANDARD_FIRES = 5;
const MOST_FIRES = 50;
const cutFires = (count: number): number => Math.min(Math.max(count, 1), MOST_FIRES);

/** `n` is cut to 1 to 50; fires come after `from`, which is now when it is absent. */
export const NextFiresQuery = z.object({
  n: rangeParameter(STANDARD_FIRES, 1, MOST_FIRES),
  from: FilterParameter.pipe(TimestampInput.nullable()),
});

/** Body of `POST /cron/preview` (dashboard.md A10). */
export const PreviewBody = z
  .object({
    cron_expr: z.string(),
    timezone: optional(z.string()),
    from: optional(TimestampInput),
    n: optional(z.int()),
  })
  .transform((body) => ({
    schedule: { cronExpr: body.cron_expr, timezone: body.timezone ?? 'UTC' },
    page: { from: body.from, count: cutFires(body.n ?? STANDARD_FIRES) },
  }));

export const NextFires = z.object({
  timezone: z.string(),
  fires: z.array(Timestamp),
  /** The same with what a clock on the wall shows, and what is odd about it: `dst_gap` or `dst_ambiguous`. */
  preview: z.array(
    z.object({
      at: Timestamp,
      local: z.string(),
      note: z.enum(['dst_gap', 'dst_ambiguous']).nullable(),
    }),
  ),
});

export function showFires({ timezone, fires }: FirePreview): z.infer<typeof NextFires> {
  return {
    timezone,
    fires: fires.map(({ at }) => timestamp(at)),
    preview: fires.map(({ at, localMs, note }) => ({
      at: timestamp(at),
      // Local times are written without an offset.
      local: timestamp(localMs).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length),
      note,
    })),
  };
}

export function showSchedule(schedule: ScheduleRecord): z.infer<typeof ScheduleBody> {
  return {
    id: schedule.id,
    tenant_id: schedule.tenantId,
    namespace: schedule.namespace,
    sequence_id: schedule.sequenceId,
    cron_expr: schedule.cronExpr,
    timezone: schedule.timezone,
    enabled: schedule.enabled,
    metadata: schedule.metadata,
    overlap_policy: schedule.overlapPolicy,
    skipped_fires: schedule.skippedFires,
    last_skipped_at: optionalTimestamp(schedule.lastSkippedAt),
    last_triggered_at: optionalTimestamp(schedule.lastTriggeredAt),
    next_fire_at: optionalTimestamp(schedule.nextFireAt),
    created_at: timestamp(schedule.createdAt),
    updated_at: timestamp(schedule.updatedAt),
  };
}
