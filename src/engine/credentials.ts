import { isDotSegment } from '../core/dot-segments.ts';
import { urlProblem } from '../core/network/outbound-url.ts';
import { utf8Bytes } from '../core/json.ts';
import { REDACTED } from '../core/redaction.ts';
import { ok, type Result } from '../core/result.ts';
import type { CredentialKind, CredentialPatch, CredentialRecord } from '../ports/store/credentials.ts';
import { notFound, refuse, type Refusal, type Refused, unreachable } from './refusal.ts';
import { sealContext } from './resolve-credentials.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** A credential as it is asked for (http-api.md 17); secrets are still readable here and nowhere after. */
export interface CredentialInput {
  readonly id: string;
  readonly tenantId: string | null;
  readonly name: string;
  readonly kind: CredentialKind;
  readonly value: string;
  readonly expiresAt: number | null;
  readonly refreshUrl: string | null;
  readonly refreshToken: string | null;
  readonly description: string | null;
}

/** Absent members stay as they are. */
export interface CredentialChange {
  readonly name?: string;
  readonly kind?: CredentialKind;
  readonly value?: string;
  readonly enabled?: boolean;
  readonly expiresAt?: number | null;
  readonly refreshUrl?: string | null;
  readonly refreshToken?: string | null;
  readonly description?: string | null;
}

const ID = /^[A-Za-z0-9._-]{1,255}$/;
const MAX_VALUE_BYTES = 256 * 1024;

/** 422 the sign of a hidden secret, 403 other tenant, 400 broken rule or no key to seal with, 409 the id is taken. */
export async function createCredential(
  deps: UseCaseDeps,
  caller: Caller,
  input: CredentialInput,
): Promise<Result<CredentialRecord, Refusal>> {
  const hidden = hiddenSecret(input);
  if (hidden !== null) return hidden;
  // Absent and blank mean the tenant of the call (http-api.md 1.4).
  const named = input.tenantId ?? '';
  const tenantId = tenantOf(caller, named.trim() === '' ? (caller.tenantId ?? 'default') : named);
  if (!tenantId.ok) return tenantId;
  if (!ID.test(input.id))
    return refuse('invalid_argument', 'id must have 1 to 255 characters of A-Z a-z 0-9 . _ -');
  if (isDotSegment(input.id)) return unreachable('id');
  const broken = brokenRule(input);
  if (broken !== null) return broken;
  if (deps.seal === undefined) return noKey;
  const context = sealContext(tenantId.value, input.id);
  const { name, kind, expiresAt, refreshUrl, refreshToken, description } = input;
  const inserted = await deps.store.insertCredential({
    id: input.id,
    tenantId: tenantId.value,
    name,
    kind,
    enabled: true,
    sealedValue: deps.seal.seal(input.value, context),
    sealedRefreshToken: refreshToken === null ? null : deps.seal.seal(refreshToken, context),
    refreshUrl,
    expiresAt,
    description,
  });
  if (!inserted) return refuse('already_exists', `credential ${input.id}`);
  const stored = await deps.store.getCredential(tenantId.value, input.id);
  return stored === null ? notFound('credential', input.id) : ok(stored);
}

/** 422 the sign of a hidden secret, 404 unknown, 400 broken rule. */
export async function changeCredential(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
  change: CredentialChange,
): Promise<Result<CredentialRecord, Refusal>> {
  const hidden = hiddenSecret(change);
  if (hidden !== null) return hidden;
  const known = await deps.store.getCredential(caller.tenantId, id);
  if (known === null) return notFound('credential', id);
  const { seal } = deps;
  if (seal === undefined) return noKey;
  const after = {
    name: change.name ?? known.name,
    kind: change.kind ?? known.kind,
    value: change.value ?? 'as it was',
    refreshUrl: change.refreshUrl === undefined ? known.refreshUrl : change.refreshUrl,
    refreshToken: change.refreshToken === undefined ? known.sealedRefreshToken : change.refreshToken,
  };
  const broken = brokenRule(after);
  if (broken !== null) return broken;
  const { value, refreshToken, ...plain } = change;
  const context = sealContext(known.tenantId, id);
  const patch: CredentialPatch = {
    ...plain,
    ...(value === undefined ? {} : { sealedValue: seal.seal(value, context) }),
    ...(refreshToken === undefined
      ? {}
      : { sealedRefreshToken: refreshToken === null ? null : seal.seal(refreshToken, context) }),
  };
  const changed = await deps.store.updateCredential(known.tenantId, id, patch);
  return changed === null ? notFound('credential', id) : ok(changed);
}

export async function removeCredential(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
): Promise<Result<null, Refusal>> {
  const known = await deps.store.getCredential(caller.tenantId, id);
  if (known === null || !(await deps.store.deleteCredential(known.tenantId, id)))
    return notFound('credential', id);
  return ok(null);
}

const noKey: Refused = refuse(
  'invalid_argument',
  'credentials need STEPWELL_ENCRYPTION_KEY to be set on the server',
  {
    code: 'no_encryption_key',
  },
);

/** What answers show instead of a secret comes back from forms that nobody has filled in (http-api.md 1.6). */
function hiddenSecret(input: {
  readonly value?: string;
  readonly refreshToken?: string | null;
}): Refused | null {
  const field = input.value === REDACTED ? 'value' : 'refresh_token';
  if (input.value !== REDACTED && input.refreshToken !== REDACTED) return null;
  return refuse('unprocessable_entity', `${field} must not be the text ${REDACTED}`);
}

function brokenRule(
  input: Pick<CredentialInput, 'name' | 'kind' | 'value' | 'refreshUrl' | 'refreshToken'>,
): Refused | null {
  if (input.name.trim() === '') return refuse('invalid_argument', 'name must not be empty');
  if (input.value === '') return refuse('invalid_argument', 'value must not be empty');
  if (utf8Bytes(input.value) > MAX_VALUE_BYTES)
    return refuse('invalid_argument', `value must not exceed ${MAX_VALUE_BYTES} bytes`);
  const { refreshUrl } = input;
  if (refreshUrl === null) return null;
  if (input.kind === 'oauth2' && input.refreshToken === null)
    return refuse('invalid_argument', 'refresh_url needs a refresh_token');
  if (!URL.canParse(refreshUrl)) return refuse('invalid_argument', 'refresh_url must be an absolute URL');
  const problem = urlProblem(new URL(refreshUrl), { allowInternal: false });
  return problem === null ? null : refuse('invalid_argument', `refresh_url: ${problem}`);
}
