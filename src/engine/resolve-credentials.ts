import {
  type CredentialReference,
  referencedIds,
  replaceReferences,
} from '../core/credentials/references.ts';
import { toJson } from '../core/call-output.ts';
import type { Failure } from '../core/failure.ts';
import { isJsonArray, isJsonObject, type Json, member } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { Seal } from '../ports/seal.ts';
import type { CredentialStore } from '../ports/store/credentials.ts';

export interface CredentialDeps {
  readonly store: Pick<CredentialStore, 'getCredential'>;
  /** Absent: nothing that is sealed can be opened. */
  readonly seal?: Seal;
}

export interface ResolvedParams {
  readonly params: Json;
  /** Every text that came from a credential, longest first: none of them may be written anywhere ([CRED-3]). */
  readonly secrets: readonly string[];
}

/** What a credential is sealed for. */
export function sealContext(tenantId: string, id: string): string {
  return `${tenantId}\n${id}`;
}

/**
 * Replaces the references in resolved params by what the credentials of the tenant hold ([CRED-1]). An unknown, disabled,
 * expired or foreign one, or a missing member, is CREDENTIAL_ERROR ([CRED-2]); the message names the id and nothing else.
 */
export async function resolveCredentials(
  deps: CredentialDeps,
  tenantId: string,
  params: Json,
  nowMs: number,
): Promise<Result<ResolvedParams, Failure>> {
  const values = new Map<string, Json>();
  for (const id of referencedIds(params)) {
    const value = await valueOf(deps, tenantId, id, nowMs);
    if (!value.ok) return value;
    values.set(id, value.value);
  }
  const missing: CredentialReference[] = [];
  const secrets = new Set<string>();
  const resolved = replaceReferences(params, (reference) => {
    const whole = values.get(reference.id) ?? null;
    const value = reference.field === null ? whole : member(whole, reference.field);
    if (value === undefined) missing.push(reference);
    else collectTexts(value, secrets);
    return value ?? null;
  });
  const [first] = missing;
  if (first !== undefined) return err(credentialError(first.id, `has no member ${first.field ?? ''}`));
  return ok({
    params: resolved,
    secrets: [...secrets].toSorted((left, right) => right.length - left.length),
  });
}

async function valueOf(
  { store, seal }: CredentialDeps,
  tenantId: string,
  id: string,
  nowMs: number,
): Promise<Result<Json, Failure>> {
  let credential: Awaited<ReturnType<CredentialStore['getCredential']>>;
  try {
    credential = await store.getCredential(tenantId, id);
  } catch {
    return err({ message: 'the store could not be asked', retryable: true, code: 'STORAGE_ERROR' });
  }
  if (credential === null) return err(credentialError(id, 'does not exist'));
  if (!credential.enabled) return err(credentialError(id, 'is disabled'));
  if (credential.expiresAt !== null && credential.expiresAt <= nowMs)
    return err(credentialError(id, 'has expired'));
  const text = seal?.open(credential.sealedValue, sealContext(tenantId, id)) ?? null;
  if (text === null) return err(credentialError(id, 'cannot be opened with the key of this process'));
  return ok(parsedValue(text));
}

/** A value that is the text of a JSON object has members; every other one is the text itself. */
function parsedValue(text: string): Json {
  if (!text.trimStart().startsWith('{')) return text;
  try {
    const value = toJson(JSON.parse(text));
    return value.ok ? value.value : text;
  } catch {
    return text;
  }
}

function credentialError(id: string, problem: string): Failure {
  return { message: `the credential ${id} ${problem}`, retryable: false, code: 'CREDENTIAL_ERROR' };
}

function collectTexts(value: Json, into: Set<string>): void {
  if (typeof value === 'string' && value !== '') into.add(value);
  else if (isJsonArray(value)) for (const item of value) collectTexts(item, into);
  else if (isJsonObject(value)) for (const item of Object.values(value)) collectTexts(item, into);
}
