import * as z from 'zod';
import type { ApiKey } from '../../ports/store/api-keys.ts';
import { optional, optionalTimestamp, Timestamp, timestamp, TimestampInput } from './wire-values.ts';

const CAPABILITIES = ['operator', 'worker', 'approver', 'publisher', 'auditor', 'device'] as const;
const CapabilityName = z.enum(CAPABILITIES);

/** A key of a tenant without its secret (http-api.md 24). */
export const ApiKeyBody = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  capabilities: z.array(CapabilityName),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  expires_at: Timestamp.nullable(),
  revoked: z.boolean(),
});
export const ApiKeyList = z.array(ApiKeyBody);

/** The only answer that shows a secret. */
export const CreatedApiKeyBody = ApiKeyBody.omit({ last_used_at: true, revoked: true }).extend({
  secret: z.string(),
});

export const ApiKeyInput = z.object({
  tenant_id: z.string().min(1).max(255),
  name: z
    .string()
    .max(255)
    .nullish()
    .transform((name) => name ?? ''),
  capabilities: z
    .array(CapabilityName)
    .nullish()
    .transform((names) => names ?? []),
  expires_at: optional(TimestampInput),
});

export const ApiKeyQuery = z.object({ tenant_id: z.string() });
export const ApiKeyPath = z.object({ id: z.string() });

export function showCreatedKey(key: ApiKey, secret: string): z.infer<typeof CreatedApiKeyBody> {
  return {
    id: key.id,
    tenant_id: key.tenantId,
    name: key.name,
    capabilities: [...key.capabilities],
    secret,
    created_at: timestamp(key.createdAt),
    expires_at: optionalTimestamp(key.expiresAt),
  };
}

export function showApiKey(key: ApiKey): z.infer<typeof ApiKeyBody> {
  return {
    id: key.id,
    tenant_id: key.tenantId,
    name: key.name,
    capabilities: [...key.capabilities],
    created_at: timestamp(key.createdAt),
    last_used_at: optionalTimestamp(key.lastUsedAt),
    expires_at: optionalTimestamp(key.expiresAt),
    revoked: key.revoked,
  };
}
