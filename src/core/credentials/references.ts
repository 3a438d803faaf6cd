import { type Json, isJsonArray, isJsonObject, jsonObject } from '../json.ts';

/** A text that is exactly `credentials://ID` or `credentials://ID/FIELD` ([CRED-1]). */
const REFERENCE = /^credentials:\/\/([A-Za-z0-9._-]{1,255})(?:\/(.+))?$/s;
const PREFIX = 'credentials://';

export interface CredentialReference {
  readonly id: string;
  /** null: the whole value. */
  readonly field: string | null;
}

/** null for a text that is no reference; what begins like one and is none names no credential either. */
function parseReference(text: string): CredentialReference | null {
  if (!text.startsWith(PREFIX)) return null;
  const [, id, field] = REFERENCE.exec(text) ?? [];
  return { id: id ?? text.slice(PREFIX.length), field: field ?? null };
}

/** Ids of the credentials that a value refers to, at any depth; keys of objects are no references. */
export function referencedIds(value: Json): ReadonlySet<string> {
  const ids = new Set<string>();
  collect(value, ids);
  return ids;
}

function collect(value: Json, ids: Set<string>): void {
  if (typeof value === 'string') {
    const reference = parseReference(value);
    if (reference !== null) ids.add(reference.id);
  } else if (isJsonArray(value)) for (const item of value) collect(item, ids);
  else if (isJsonObject(value)) for (const item of Object.values(value)) collect(item, ids);
}

/** True when `referencedIds` would find any. */
export function hasReferences(value: Json): boolean {
  if (typeof value === 'string') return value.startsWith(PREFIX);
  if (isJsonArray(value)) return value.some(hasReferences);
  return isJsonObject(value) && Object.values(value).some(hasReferences);
}

/** The value with every reference replaced by what `resolve` answers. */
export function replaceReferences(value: Json, resolve: (reference: CredentialReference) => Json): Json {
  if (typeof value === 'string') {
    const reference = parseReference(value);
    return reference === null ? value : resolve(reference);
  }
  if (isJsonArray(value)) return value.map((item) => replaceReferences(item, resolve));
  if (!isJsonObject(value)) return value;
  return jsonObject(Object.entries(value).map(([key, item]) => [key, replaceReferences(item, resolve)]));
}

/** The value with every one of these texts blotted out, wherever it stands in a string ([CRED-3]). */
export function withoutSecrets(value: Json, secrets: readonly string[]): Json {
  if (typeof value === 'string')
    return secrets.reduce((text, secret) => text.replaceAll(secret, '[REDACTED]'), value);
  if (isJsonArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (!isJsonObject(value)) return value;
  return jsonObject(Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, secrets)]));
}
