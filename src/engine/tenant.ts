import { ok, type Result } from '../core/result.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Caller } from './use-case.ts';

/** The longest tenant name (http-api.md 1.4). */
export const MAX_TENANT_LENGTH = 255;

/**
 * The tenant of something that is created: the body must name the caller's tenant (403), and a name of white space only
 * or one that is too long is refused (400). The shape has already refused a missing or empty one (422).
 */
export function tenantOf(caller: Caller, named: string): Result<string, Refusal> {
  if (caller.tenantId !== null && named !== caller.tenantId) {
    return refuse('forbidden', 'tenant_id does not match the tenant of the call', {
      code: 'tenant_mismatch',
    });
  }
  if (named.trim() === '') return refuse('invalid_argument', 'tenant_id must not be empty');
  if (named.length > MAX_TENANT_LENGTH) {
    return refuse('invalid_argument', `tenant_id must not exceed ${MAX_TENANT_LENGTH} characters`);
  }
  return ok(named);
}
