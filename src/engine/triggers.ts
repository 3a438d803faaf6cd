import { isDotSegment } from '../core/dot-segments.ts';
import { member, type Json } from '../core/json.ts';
import { standardKey } from '../core/webhook-schemes.ts';
import { ok, type Result } from '../core/result.ts';
import type { NewTrigger, TriggerRecord } from '../ports/store/catalog.ts';
import { notFound, refuse, type Refusal, type Refused, unreachable } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** Slugs that would hide paths of the API. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['outbox', 'deliveries']);
const MAX_NAME_LENGTH = 255;
/** What the API shows in place of a secret; nobody means it as one. */
export const REDACTED = '[REDACTED]';

/** How a public webhook proves itself, from `config.signature.scheme` (RULINGS B21). */
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];
const SIGNATURE_SCHEMES = ['stepwell', 'standard', 'github', 'stripe', 'slack'] as const;

/**
 * Creates a trigger (http-api.md 12.1): tenant (403), rules (400, 422), the sequence exists (404), the slug is free (409).
 * An empty `tenantId` stands for the tenant of the call, or `default`.
 */
export async function createTrigger(
  deps: UseCaseDeps,
  caller: Caller,
  input: NewTrigger,
): Promise<Result<TriggerRecord, Refusal>> {
  const named = input.tenantId === '' ? (caller.tenantId ?? 'default') : input.tenantId;
  const tenantId = tenantOf(caller, named);
  if (!tenantId.ok) return tenantId;
  const trigger = { ...input, tenantId: tenantId.value };
  const broken = brokenRule(trigger);
  if (broken !== null) return broken;
  const sequence = await deps.store.findSequence(sequenceOf(trigger));
  if (sequence === null) return notFound('sequence', trigger.sequenceName);
  if ((await deps.store.insertTrigger(trigger)) === 'exists')
    return refuse('already_exists', `trigger ${trigger.slug}`);
  const stored = await deps.store.getTrigger(trigger.tenantId, trigger.slug);
  return stored === null ? notFound('trigger', trigger.slug) : ok(stored);
}

/** The sequence that a trigger starts, as the catalog is asked for it at each fire. */
export function sequenceOf({ tenantId, namespace, sequenceName, version }: NewTrigger): {
  readonly tenantId: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number | null;
} {
  return { tenantId, namespace, name: sequenceName, version };
}

/** The scheme of a trigger; null for one that this build does not know. */
export function schemeOf(config: Json): SignatureScheme | null {
  const scheme = member(member(config, 'signature'), 'scheme') ?? 'stepwell';
  return SIGNATURE_SCHEMES.find((name) => name === scheme) ?? null;
}

function brokenRule(trigger: NewTrigger): Refused | null {
  const names = { slug: trigger.slug, sequence_name: trigger.sequenceName, namespace: trigger.namespace };
  for (const [field, name] of Object.entries(names)) {
    if (name.trim() === '') return refuse('invalid_argument', `${field} must not be empty`);
    if (name.length > MAX_NAME_LENGTH)
      return refuse('invalid_argument', `${field} must not exceed ${MAX_NAME_LENGTH} characters`);
  }
  if (isDotSegment(trigger.slug)) return unreachable('slug');
  if (RESERVED_SLUGS.has(trigger.slug)) return refuse('invalid_argument', `slug ${trigger.slug} is reserved`);
  if (trigger.secret === '') return refuse('invalid_argument', 'secret must not be empty');
  if (trigger.secret === REDACTED)
    return refuse('unprocessable_entity', `secret must not be the text ${REDACTED}`);
  const scheme = schemeOf(trigger.config);
  if (scheme === null) {
    return refuse(
      'invalid_argument',
      `config.signature.scheme must be one of ${SIGNATURE_SCHEMES.join(', ')}`,
      {
        code: 'unknown_signature_scheme',
      },
    );
  }
  if (scheme === 'standard' && trigger.secret !== null && standardKey(trigger.secret) === undefined)
    return refuse('invalid_argument', 'secret of the scheme standard must be base64, with or without whsec_');
  return null;
}
