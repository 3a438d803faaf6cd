import * as z from 'zod';
import type { BatchAction, FilterInput } from '../../engine/many-instances.ts';
import { MAX_INSTANCES } from '../../engine/many-instances.ts';
import { InstanceStateName, JsonValue, optional, Uuid } from './wire-values.ts';

/** Which instances are meant (http-api.md 8). An absent member does not restrict; `states: []` means all. */
const Filter = z
  .object({
    tenant_id: optional(z.string()),
    namespace: optional(z.string()),
    sequence_id: optional(Uuid),
    states: optional(z.array(InstanceStateName)),
    metadata: optional(z.record(z.string(), z.string())),
  })
  .transform(
    (filter): FilterInput => ({
      tenantId: filter.tenant_id,
      namespace: filter.namespace,
      sequenceId: filter.sequence_id,
      states: filter.states ?? [],
      metadata: Object.entries(filter.metadata ?? {}),
    }),
  );

export const BulkStateBody = z.object({ filter: Filter, state: InstanceStateName });

/** Ten years, the longest that a time is moved. */
const MAX_OFFSET_SECS = 315_360_000;
export const BulkRescheduleBody = z.object({
  filter: Filter,
  offset_secs: z.int().min(-MAX_OFFSET_SECS).max(MAX_OFFSET_SECS),
});

export const BulkCount = z.object({ count: z.int() });

const Action = z.enum(['retry', 'pause', 'resume', 'cancel', 'signal']);

/** Body of `POST /instances/batch-action`. A limit outside 1 to 10,000 is cut; that a signal has a name is a rule (400). */
export const BatchActionBody = z
  .object({
    filter: Filter,
    action: Action,
    signal_type: optional(z.string()),
    payload: JsonValue.nullish().transform((payload) => payload ?? null),
    dry_run: optional(z.boolean()),
    limit: optional(z.int()),
  })
  .transform(({ action, signal_type: signalType, payload, ...body }) => ({
    filter: body.filter,
    name: action,
    signalName: signalType,
    action: actionOf(action, signalType, payload),
    dryRun: body.dry_run ?? false,
    limit: Math.min(Math.max(body.limit ?? 1000, 1), MAX_INSTANCES),
  }));

function actionOf(
  name: z.output<typeof Action>,
  signalType: string | null,
  payload: z.output<typeof JsonValue>,
): BatchAction {
  if (name === 'retry') return { kind: 'retry' };
  return { kind: 'signal', signalType: name === 'signal' ? `custom:${signalType ?? ''}` : name, payload };
}

export const BatchActionDone = z.object({
  matched: z.int(),
  applied: z.int(),
  skipped: z.int(),
  failed: z.int(),
  dry_run: z.boolean(),
});
