import * as z from 'zod';
import {
  type RoutingRule,
  type VersionPin,
  WORKER_COMMANDS,
  type WorkerCommand,
} from '../../ports/store/worker-admin.ts';
import {
  FilterParameter,
  JsonValue,
  limitParameter,
  optional,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

const LISTED_MAX = 1000;

/** A command for a worker (http-api.md 19.5). */
export const CommandBody = z.object({
  id: Uuid,
  worker_id: z.string(),
  command: z.enum(WORKER_COMMANDS),
  payload: JsonValue,
  created_at: Timestamp,
});
export const CommandList = z.array(CommandBody);

export const CommandInput = z.object({
  worker_id: z.string().max(255),
  command: z.enum(WORKER_COMMANDS),
  payload: JsonValue.optional().transform((payload) => payload ?? null),
});
export const WorkerPath = z.object({ worker_id: z.string() });
export const LimitQuery = z.object({ limit: limitParameter(LISTED_MAX, LISTED_MAX) });

export function showCommand(command: WorkerCommand): z.infer<typeof CommandBody> {
  return {
    id: command.id,
    worker_id: command.workerId,
    command: command.command,
    payload: command.payload,
    created_at: timestamp(command.createdAt),
  };
}

export const PinBody = z.object({
  tenant_id: z.string(),
  handler_name: z.string(),
  min_version: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const PinList = z.array(PinBody);

export const PinInput = z.object({
  tenant_id: z.string().max(255),
  handler_name: z.string().max(255),
  min_version: z.string().max(128),
});
export const PinPath = z.object({ tenant_id: z.string(), handler_name: z.string() });
export const TenantQuery = z.object({
  tenant_id: FilterParameter,
  limit: limitParameter(LISTED_MAX, LISTED_MAX),
});

export function showPin(pin: VersionPin): z.infer<typeof PinBody> {
  return {
    tenant_id: pin.tenantId,
    handler_name: pin.handlerName,
    min_version: pin.minVersion,
    created_at: timestamp(pin.createdAt),
    updated_at: timestamp(pin.updatedAt),
  };
}

/** A routing rule (http-api.md 20). */
export const RuleBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  handler_name: z.string(),
  match_queue: z.string().exactOptional(),
  queue_override: z.string(),
  priority: z.int(),
  enabled: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const RuleList = z.array(RuleBody);

export const RuleInput = z.object({
  tenant_id: z.string().min(1).max(255),
  handler_name: z.string().max(255),
  match_queue: optional(z.string().max(255)),
  queue_override: z.string().max(255),
  priority: z
    .int32()
    .nullish()
    .transform((priority) => priority ?? 0),
  enabled: z
    .boolean()
    .nullish()
    .transform((enabled) => enabled ?? true),
});

export function showRule(rule: RoutingRule): z.infer<typeof RuleBody> {
  return {
    id: rule.id,
    tenant_id: rule.tenantId,
    handler_name: rule.handlerName,
    ...(rule.matchQueue === null ? {} : { match_queue: rule.matchQueue }),
    queue_override: rule.queueOverride,
    priority: rule.priority,
    enabled: rule.enabled,
    created_at: timestamp(rule.createdAt),
    updated_at: timestamp(rule.updatedAt),
  };
}
