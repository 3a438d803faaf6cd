import * as z from 'zod';
import { SESSION_STATES, type SessionRecord } from '../../ports/store/sessions.ts';
import { JsonValue, optional, Timestamp, timestamp, TimestampInput, Uuid } from './wire-values.ts';

const State = z.enum(SESSION_STATES);

/** Body of `POST /sessions` (http-api.md 14); the length of the key is a rule of the use case (400). */
export const SessionInput = z
  .object({
    tenant_id: z.string().min(1, { error: 'must not be empty' }).max(255),
    session_key: z.string(),
    data: JsonValue.exactOptional(),
    expires_at: optional(TimestampInput),
  })
  .transform((body) => ({
    tenantId: body.tenant_id,
    sessionKey: body.session_key,
    data: body.data ?? {},
    expiresAt: body.expires_at,
  }));

export const SessionDataBody = z.object({ data: JsonValue });
export const SessionStateBody = z.object({ state: State });
export const SessionKeyPath = z.object({ tenant_id: z.string(), key: z.string() });

export const SessionBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  session_key: z.string(),
  data: JsonValue,
  state: State,
  created_at: Timestamp,
  updated_at: Timestamp,
  expires_at: Timestamp.exactOptional(),
});

export function showSession(session: SessionRecord): z.infer<typeof SessionBody> {
  return {
    id: session.id,
    tenant_id: session.tenantId,
    session_key: session.sessionKey,
    data: session.data,
    state: session.state,
    created_at: timestamp(session.createdAt),
    updated_at: timestamp(session.updatedAt),
    ...(session.expiresAt === null ? {} : { expires_at: timestamp(session.expiresAt) }),
  };
}
