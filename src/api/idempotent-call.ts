import { parseIdempotencyKey, requestFingerprint } from '../core/idempotency-header.ts';
import { type Json, member } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { performOnce, type OnceRequest, type Performed } from '../engine/idempotency/perform-once.ts';
import { refuse, type Refusal } from '../engine/refusal.ts';
import { MAX_TENANT_LENGTH } from '../engine/tenant.ts';
import type { Caller } from '../engine/use-case.ts';
import type { KeptAnswer } from '../ports/store/idempotency.ts';
import type { ApiContext } from './api-deps.ts';
import { renderError } from './error-answer.ts';
import type { Answer, KeptReply, Reply } from './reply.ts';

/** What of a route matters here. */
interface Carried {
  readonly method: string;
  readonly path: string;
  readonly access: string;
  readonly secretAnswer: boolean;
}

/** What of a call matters here. */
interface CarriedCall {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
  readonly requestId: string;
}

/**
 * Whether the header Idempotency-Key means something to a route: to all that create or change something for a caller. A
 * public webhook is known by its provider's delivery id instead (RULINGS B21), and a delete is its own repeat.
 */
export function takesIdempotencyKey({ method, access }: Pick<Carried, 'method' | 'access'>): boolean {
  return access !== 'public' && (method === 'POST' || method === 'PUT' || method === 'PATCH');
}

/**
 * Carries a request out, once for its Idempotency-Key when it has one. It comes after the checks of the parts: what they
 * refuse takes no key.
 */
export async function carryOut(
  deps: ApiContext,
  route: Carried,
  call: CarriedCall,
  body: Json | undefined,
  perform: (deps: ApiContext) => Promise<Answer> | Answer,
): Promise<Result<Reply | KeptReply, Refusal>> {
  const header = takesIdempotencyKey(route) ? call.header('idempotency-key') : undefined;
  const key = header === undefined ? undefined : parseIdempotencyKey(header);
  if (key === null) {
    return refuse('invalid_argument', 'Idempotency-Key must have 1 to 255 printable ASCII characters', {
      code: 'invalid_idempotency_key',
    });
  }
  const refusal = await admit(deps, route);
  if (refusal !== null) return err(refusal);
  if (key === undefined) return perform(deps);
  const { params, query } = call;
  const { method, path } = route;
  const request: OnceRequest = {
    tenantId: spaceOf(call, body),
    key,
    fingerprint: requestFingerprint({ method, path, params, query, body }),
    credential: call.header('x-api-key') ?? call.header('authorization') ?? '',
    isSecret: route.secretAnswer,
  };
  const once = await performOnce(deps, request, async (parts) =>
    performed(await perform({ ...deps, ...parts }), call.requestId),
  );
  return once.ok ? ok({ once: once.value }) : once;
}

/** What anybody may ask is admitted by its route, when the caller has proven something. */
async function admit(deps: ApiContext, { access, method }: Carried): Promise<Refusal | null> {
  if (access === 'public' || deps.onAdmitted === undefined) return null;
  return deps.onAdmitted(method !== 'GET');
}

/** The tenant of the call; without one, that which the body names. */
function spaceOf({ caller }: CarriedCall, body: Json | undefined): string {
  if (caller.tenantId !== null) return caller.tenantId;
  const named = member(body, 'tenant_id');
  return typeof named === 'string' && named.length <= MAX_TENANT_LENGTH ? named : '';
}

function performed(answer: Answer, requestId: string): Performed {
  if (!answer.ok) {
    const { kind, code, retryAfterSecs } = answer.error;
    const { status, body } = renderError(answer.error, requestId);
    const asksAgain = status >= 500 || retryAfterSecs !== undefined;
    const isFinal = !asksAgain && kind !== 'rate_limited' && code !== 'instance_busy';
    return { answer: json(status, body), isFinal };
  }
  const { status, body, text } = answer.value;
  if (text !== undefined) return { answer: { status, type: text.type, body: text.content }, isFinal: true };
  return {
    answer: body === undefined ? { status, type: null, body: null } : json(status, body),
    isFinal: status < 500,
  };
}

function json(status: number, body: unknown): KeptAnswer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
