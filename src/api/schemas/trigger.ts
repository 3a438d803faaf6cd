import * as z from 'zod';
import { REDACTED } from '../../engine/triggers.ts';
import type { NewTrigger, TriggerRecord } from '../../ports/store/catalog.ts';
import {
  FilterParameter,
  JsonValue,
  limitParameter,
  optional,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

const TriggerType = z.enum(['webhook', 'event', 'nats', 'file_watch', 'activepieces_poll']);

/** Body of `POST /triggers` (http-api.md 12.1); blank names are a rule of the use case (400). */
export const TriggerInput = z
  .object({
    slug: z.string(),
    sequence_name: z.string(),
    version: optional(z.int32()),
    tenant_id: z.string().max(255),
    namespace: z
      .string()
      .nullish()
      .transform((namespace) => namespace ?? 'default'),
    enabled: z
      .boolean()
      .nullish()
      .transform((enabled) => enabled ?? true),
    secret: optional(z.string().max(4096)),
    trigger_type: TriggerType.nullish().transform((type) => type ?? ('webhook' as const)),
    config: JsonValue.nullish().transform((config) => config ?? null),
  })
  .transform((body): NewTrigger => {
    const { sequence_name: sequenceName, tenant_id: tenantId, trigger_type: triggerType, ...others } = body;
    return { ...others, sequenceName, tenantId, triggerType };
  });

export const TriggerBody = z.object({
  slug: z.string(),
  sequence_name: z.string(),
  version: z.int().exactOptional(),
  tenant_id: z.string(),
  namespace: z.string(),
  enabled: z.boolean(),
  secret: z.literal(REDACTED).exactOptional(),
  trigger_type: TriggerType,
  config: JsonValue,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const TriggerList = z.array(TriggerBody);

export const TriggerQuery = z.object({ tenant_id: FilterParameter, limit: limitParameter(100, 1000) });

export const FiredBody = z.object({ instance_id: Uuid, trigger: z.string(), sequence_name: z.string() });
export const WebhookBody = z.object({ instance_id: Uuid, trigger: z.string() });

export function showTrigger(trigger: TriggerRecord): z.infer<typeof TriggerBody> {
  return {
    slug: trigger.slug,
    sequence_name: trigger.sequenceName,
    ...(trigger.version === null ? {} : { version: trigger.version }),
    tenant_id: trigger.tenantId,
    namespace: trigger.namespace,
    enabled: trigger.enabled,
    ...(trigger.secret === null ? {} : { secret: REDACTED }),
    trigger_type: trigger.triggerType,
    config: trigger.config,
    created_at: timestamp(trigger.createdAt),
    updated_at: timestamp(trigger.updatedAt),
  };
}
