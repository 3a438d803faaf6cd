import * as z from 'zod';
import type { StartTarget, TargetedStart } from '../../engine/start-target.ts';
import { JsonObjectValue, JsonValue, optional, PriorityInput, TimestampInput, Uuid } from './wire-values.ts';

/** That it is not negative is a rule of the use case (400). */
const Limit = optional(z.int());

/** Ceilings of a run (sequences.md 13.6). */
export const BudgetInput = z
  .object({
    max_input_tokens: Limit,
    max_output_tokens: Limit,
    max_total_tokens: Limit,
    max_steps: Limit,
    max_cost_microunits: Limit,
    max_wall_time_ms: Limit,
    max_external_calls: Limit,
    max_bytes_transferred: Limit,
    max_energy_millijoules: Limit,
    max_attention_units: Limit,
  })
  .transform((limits) => Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null)));

/** A context as a client may send it; unknown sections are dropped ([INS-3]). */
const ContextInput = z.object({
  data: JsonValue.exactOptional(),
  config: optional(JsonObjectValue),
  audit: optional(z.array(JsonValue)),
  runtime: optional(z.object({ dry_run: z.boolean().nullish() })),
});

/** Body of `POST /instances` (http-api.md 5.2). */
export const StartBody = z
  .object({
    /** Required unless `sequence_name` is there; it decides when both are. */
    sequence_id: optional(Uuid),
    /** Instead of the id: a name in the namespace of the start. */
    sequence_name: optional(z.string()),
    /** Of that name; the newest that is not deprecated when absent. */
    version: optional(z.int32()),
    tenant_id: z.string().min(1, { error: 'must not be empty' }).max(255),
    namespace: z.string().max(255),
    priority: optional(PriorityInput),
    timezone: optional(z.string()),
    metadata: optional(JsonObjectValue),
    context: optional(ContextInput),
    dry_run: optional(z.boolean()),
    dry_run_auto_approve: optional(z.boolean()),
    dry_run_real_time: optional(z.boolean()),
    next_fire_at: optional(TimestampInput),
    concurrency_key: optional(z.string()),
    max_concurrency: optional(z.int32()),
    idempotency_key: optional(z.string()),
    budget: optional(BudgetInput),
    session_id: optional(Uuid),
  })
  .transform((body, context): TargetedStart => {
    const target = targetOf(body);
    if (target === null) {
      context.addIssue({ code: 'invalid_type', expected: 'string', path: ['sequence_id'], input: undefined });
      return z.NEVER;
    }
    return {
      target,
      tenantId: body.tenant_id,
      namespace: body.namespace,
      priority: body.priority ?? 1,
      timezone: body.timezone ?? 'UTC',
      metadata: body.metadata ?? {},
      context: {
        data: body.context?.data ?? {},
        config: body.context?.config ?? {},
        audit: body.context?.audit ?? [],
      },
      dryRun: (body.dry_run ?? false) || (body.context?.runtime?.dry_run ?? false),
      dryRunAutoApprove: body.dry_run_auto_approve ?? false,
      dryRunRealTime: body.dry_run_real_time ?? false,
      nextFireAt: body.next_fire_at,
      concurrencyKey: body.concurrency_key,
      maxConcurrency: body.max_concurrency,
      idempotencyKey: body.idempotency_key === '' ? null : body.idempotency_key,
      sessionId: body.session_id,
      budget: body.budget,
    };
  });

function targetOf({
  sequence_id: id,
  sequence_name: name,
  version,
}: {
  readonly sequence_id: string | null;
  readonly sequence_name: string | null;
  readonly version: number | null;
}): StartTarget | null {
  if (id !== null) return { id };
  return name === null || name === '' ? null : { name, version };
}

/** The size is a rule of the use case (400), not of the shape. */
export const BatchBody = z.object({ instances: z.array(StartBody) });

export const StartedBody = z.object({
  id: Uuid,
  deduplicated: z.boolean(),
  /** Present when the repeat differs from the first start ([INS-8]). */
  conflict: z.literal(true).exactOptional(),
});

export const BatchStarted = z.object({ count: z.int() });
