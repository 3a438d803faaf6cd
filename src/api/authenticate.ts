import { equalSecrets } from '../core/digest.ts';
import { ok, type Result } from '../core/result.ts';
import { refuse, type Refusal } from '../engine/refusal.ts';
import { MAX_TENANT_LENGTH } from '../engine/tenant.ts';
import type { Caller } from '../engine/use-case.ts';
import type { ApiSettings } from './api-deps.ts';
import type { Access } from './route.ts';

/**
 * Who calls (http-api.md 1.3 and 1.4): 401 without a valid key, 400 without the tenant where one is required.
 *
 * Without a root key everybody is an administrator. Keys of tenants are looked up here as well once they exist; such a
 * caller is no administrator, bound to its tenant (403 for another header), and has capabilities.
 */
export function authenticate(
  settings: ApiSettings,
  headers: Headers,
  access: Access,
): Result<Caller, Refusal> {
  if (access === 'public') return ok({ tenantId: null, isAdmin: false });
  if (settings.apiKey !== null && !holdsKey(settings.apiKey, headers)) return refuse('unauthorized', '');
  if (access === 'key') return ok({ tenantId: null, isAdmin: true });
  const tenantId = tenantOfHeader(headers);
  if (!tenantId.ok) return tenantId;
  if (tenantId.value === null && settings.requireTenantHeader && access === 'tenant') {
    return refuse('invalid_argument', 'x-tenant-id header is required', { code: 'tenant_required' });
  }
  return ok({ tenantId: tenantId.value ?? settings.defaultTenantId, isAdmin: true });
}

/** Only one exact Bearer form passes; two authorization headers arrive joined by a comma and fit none. */
function holdsKey(apiKey: string, headers: Headers): boolean {
  const bearer = /^Bearer ([!-~]+)$/.exec(headers.get('authorization') ?? '')?.[1];
  const offered = headers.get('x-api-key') ?? bearer;
  return offered !== undefined && equalSecrets(offered, apiKey);
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
