import * as z from 'zod';
import type { CredentialChange, CredentialInput } from '../../engine/credentials.ts';
import type { CredentialRecord } from '../../ports/store/credentials.ts';
import {
  FilterParameter,
  limitParameter,
  optional,
  Timestamp,
  timestamp,
  TimestampInput,
} from './wire-values.ts';

const Kind = z.enum(['api_key', 'oauth2', 'basic']);

/** Body of `POST /credentials` (http-api.md 17); blank texts are rules of the use case (400). */
export const CredentialBody = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: Kind.nullish().transform((kind) => kind ?? ('api_key' as const)),
    value: z.string(),
    tenant_id: optional(z.string()),
    expires_at: optional(TimestampInput),
    refresh_url: optional(z.string()),
    refresh_token: optional(z.string().min(1)),
    description: optional(z.string()),
  })
  .transform(
    ({
      tenant_id: tenantId,
      expires_at: expiresAt,
      refresh_url: refreshUrl,
      refresh_token: refreshToken,
      ...rest
    }) => ({ ...rest, tenantId, expiresAt, refreshUrl, refreshToken }) satisfies CredentialInput,
  );

/** Absent members stay; null clears what may be absent. */
export const CredentialPatchBody = z
  .object({
    name: z.string().optional(),
    kind: Kind.optional(),
    value: z.string().optional(),
    enabled: z.boolean().optional(),
    expires_at: TimestampInput.nullable().optional(),
    refresh_url: z.string().nullable().optional(),
    refresh_token: z.string().min(1).nullable().optional(),
    description: z.string().nullable().optional(),
  })
  .transform((body): CredentialChange => {
    const { expires_at: expiresAt, refresh_url: refreshUrl, refresh_token: refreshToken } = body;
    const { name, kind, value, enabled, description } = body;
    return {
      ...(name === undefined ? {} : { name }),
      ...(kind === undefined ? {} : { kind }),
      ...(value === undefined ? {} : { value }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(refreshUrl === undefined ? {} : { refreshUrl }),
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(description === undefined ? {} : { description }),
    };
  });

export const CredentialShown = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  kind: Kind,
  enabled: z.boolean(),
  expires_at: Timestamp.exactOptional(),
  refresh_url: z.string().exactOptional(),
  has_refresh_token: z.boolean(),
  description: z.string().exactOptional(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const CredentialList = z.array(CredentialShown);

export const CredentialPath = z.object({ id: z.string() });
export const CredentialQuery = z.object({ tenant_id: FilterParameter, limit: limitParameter(100, 1000) });

/** Neither value nor token is ever shown. */
export function showCredential(credential: CredentialRecord): z.infer<typeof CredentialShown> {
  const { id, tenantId, name, kind, enabled, expiresAt, refreshUrl, description } = credential;
  return {
    id,
    tenant_id: tenantId,
    name,
    kind,
    enabled,
    ...(expiresAt === null ? {} : { expires_at: timestamp(expiresAt) }),
    ...(refreshUrl === null ? {} : { refresh_url: refreshUrl }),
    has_refresh_token: credential.sealedRefreshToken !== null,
    ...(description === null ? {} : { description }),
    created_at: timestamp(credential.createdAt),
    updated_at: timestamp(credential.updatedAt),
  };
}
