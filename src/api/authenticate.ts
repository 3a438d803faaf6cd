import { equalSecrets } from '../core/digest.ts';
import { networkOf } from '../core/network/network-of.ts';
import { ok, type Result } from '../core/result.ts';
import { isKeySecret } from '../engine/api-keys/key-secret.ts';
import { mayCall } from '../engine/api-keys/capabilities.ts';
import { refuse, type Refusal } from '../engine/refusal.ts';
import { MAX_TENANT_LENGTH } from '../engine/tenant.ts';
import type { Caller } from '../engine/use-case.ts';
import type { ApiKey } from '../ports/store/api-keys.ts';
import type { ApiContext } from './api-deps.ts';
import type { Route } from './route.ts';

type AuthDeps = Pick<ApiContext, 'settings' | 'keyRing' | 'strangers'>;
type Called = Pick<Route, 'access' | 'path'> & { readonly method: string };

const TOO_MANY = refuse('rate_limited', 'too many calls with keys that are wrong or not known yet', {
  retryAfterSecs: 1,
});

/**
 * Who calls (http-api.md 1.3 and 1.4). Without a root key everybody is an administrator. With one: 401 without a valid
 * key; the root key is an administrator; the key of a tenant is bound to its tenant (403 for another header) and to what
 * its capabilities allow (403). Then the tenant, 400 where one is required and missing. Peers that keep sending wrong keys
 * get 429.
 */
export async function authenticate(
  deps: AuthDeps,
  headers: Headers,
  route: Called,
  peer: string,
): Promise<Result<Caller, Refusal>> {
  const { settings } = deps;
  if (route.access === 'public') return ok({ tenantId: null, isAdmin: false });
  if (settings.apiKey !== null) {
    const offered = offeredKey(headers);
    if (offered === undefined) return refuse('unauthorized', '');
    if (!equalSecrets(offered, settings.apiKey)) {
      // What can be no key costs nothing, and takes no room from what can.
      const stranger = `${isKeySecret(offered) ? 'key' : 'no key'} ${networkOf(peer)}`;
      // A stranger is looked up as often as he may fail: a wrong key must not cost the database a statement each time. His
      // place is taken before the look, so that calls at the same time count too.
      const found = await deps.keyRing.find(offered, () => deps.strangers.take(stranger));
      if (typeof found === 'object') return callerOfKey(found, headers, route);
      // What is looked up has its place already.
      const hasPlace = isKeySecret(offered) || deps.strangers.admit(stranger);
      return found === 'wrong' && hasPlace ? refuse('unauthorized', '') : TOO_MANY;
    }
  }
  if (route.access === 'key') return ok({ tenantId: null, isAdmin: true });
  const tenantId = tenantOfHeader(headers);
  if (!tenantId.ok) return tenantId;
  if (tenantId.value === null && settings.requireTenantHeader && route.access === 'tenant') {
    return refuse('invalid_argument', 'x-tenant-id header is required', { code: 'tenant_required' });
  }
  return ok({ tenantId: tenantId.value ?? settings.defaultTenantId, isAdmin: true });
}

function callerOfKey(
  key: ApiKey,
  headers: Headers,
  { access, method, path }: Called,
): Result<Caller, Refusal> {
  const named = tenantOfHeader(headers);
  if (!named.ok) return named;
  if (named.value !== null && named.value !== key.tenantId) {
    return refuse('forbidden', 'the key belongs to another tenant than x-tenant-id names', {
      code: 'tenant_mismatch',
    });
  }
  if (access === 'admin') {
    const what = path.startsWith('/api-keys') ? 'API key management' : `${method} ${path}`;
    return refuse('forbidden', `${what} requires the root API key`, { code: 'admin_only' });
  }
  if (!mayCall(key.capabilities, method, path)) {
    const held = key.capabilities.join(', ');
    return refuse('forbidden', `a key with ${held} may not ${method} ${path}`, {
      code: 'missing_capability',
    });
  }
  return ok({ tenantId: key.tenantId, isAdmin: false });
}

/** Only one exact Bearer form passes; two authorization headers arrive joined by a comma and fit none. */
function offeredKey(headers: Headers): string | undefined {
  return headers.get('x-api-key') ?? /^Bearer ([!-~]+)$/.exec(headers.get('authorization') ?? '')?.[1];
}

/** The tenant of the header, null when it is absent or blank. Its UTF-8 bytes arrive as one character each. */
function tenantOfHeader(headers: Headers): Result<string | null, Refusal> {
  const text = decodeHeader(headers.get('x-tenant-id')?.trim() ?? '');
  if (text === '') return ok(null);
  if (text === null || text.length > MAX_TENANT_LENGTH) {
    return refuse('invalid_argument', `x-tenant-id must be text of at most ${MAX_TENANT_LENGTH} characters`);
  }
  return ok(text);
}

function decodeHeader(value: string): string | null {
  if (/^[ -~]*$/.test(value)) return value;
  if (/[^ -~\u0080-\u00ff]/.test(value)) return null;
  try {
    const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
