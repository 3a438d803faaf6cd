import { canonicalJson, type Json, utf8Bytes } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import type { NewSession, SessionRecord, SessionState } from '../ports/store/sessions.ts';
import { notFound, refuse, type Refusal, type Refused } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

const MAX_KEY_LENGTH = 512;

/** Creates a session (http-api.md 14): tenant (403), key (400), size of the data (413), the key is free (409). */
export async function createSession(
  deps: UseCaseDeps,
  caller: Caller,
  input: Omit<NewSession, 'id'>,
): Promise<Result<SessionRecord, Refusal>> {
  const tenantId = tenantOf(caller, input.tenantId);
  if (!tenantId.ok) return tenantId;
  const { sessionKey } = input;
  if (sessionKey === '') return refuse('invalid_argument', 'session_key must not be empty');
  if (sessionKey.length > MAX_KEY_LENGTH)
    return refuse('invalid_argument', `session_key must not exceed ${MAX_KEY_LENGTH} characters`);
  const tooLarge = checkDataSize(deps, input.data);
  if (tooLarge !== null) return tooLarge;
  const session = { ...input, tenantId: tenantId.value, id: deps.ids.newId() };
  if ((await deps.store.insertSession(session)) === 'exists')
    return refuse('already_exists', `session ${sessionKey}`);
  const created = await deps.store.getSession(tenantId.value, session.id);
  return created === null ? notFound('session', session.id) : ok(created);
}

/** Finds a session by its key; one of another tenant is not found, whoever asks. */
export async function findSession(
  deps: UseCaseDeps,
  caller: Caller,
  tenantId: string,
  sessionKey: string,
): Promise<Result<SessionRecord, Refusal>> {
  const isTheirs = caller.tenantId !== null && caller.tenantId !== tenantId;
  const found = isTheirs ? null : await deps.store.findSession(tenantId, sessionKey);
  return found === null ? notFound('session', sessionKey) : ok(found);
}

/** Replaces the data of a session. 404 unknown, 413 too large. */
export async function setSessionData(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  data: Json,
): Promise<Result<null, Refusal>> {
  const tooLarge = checkDataSize(deps, data);
  if (tooLarge !== null) {
    const known = (await deps.store.getSession(caller.tenantId, id)) !== null;
    return known ? tooLarge : notFound('session', id);
  }
  const changed = await deps.store.setSessionData(caller.tenantId, id, data);
  return changed ? ok(null) : notFound('session', id);
}

/** Any state may follow any other. */
export async function setSessionState(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  state: SessionState,
): Promise<Result<null, Refusal>> {
  const changed = await deps.store.setSessionState(caller.tenantId, id, state);
  return changed ? ok(null) : notFound('session', id);
}

/** 404 for a start into a session that its tenant does not have; whatever state it is in, it stops no instance. */
export async function checkSession(
  deps: Pick<UseCaseDeps, 'store'>,
  { tenantId, sessionId }: { readonly tenantId: string; readonly sessionId: string | null },
): Promise<Refusal | null> {
  if (sessionId === null || (await deps.store.getSession(tenantId, sessionId)) !== null) return null;
  return { kind: 'not_found', message: `session ${sessionId}` };
}

/** The limit of the context holds for the data of a session as well (http-api.md 1.8). */
function checkDataSize(deps: Pick<UseCaseDeps, 'limits'>, data: Json): Refused | null {
  const limit = deps.limits.maxContextBytes;
  const bytes = utf8Bytes(canonicalJson(data));
  if (limit === 0 || bytes <= limit) return null;
  return refuse('payload_too_large', `session data too large: ${bytes} bytes, limit ${limit} bytes`, {
    code: 'session_data_too_large',
  });
}
