import { type Json, isJsonArray, isJsonObject, jsonObject } from './json.ts';

/** What is shown in the place of a secret. */
export const REDACTED = '[REDACTED]';

/** http-api.md 4.5: keys that are sensitive as a whole. */
const WHOLE_KEYS: ReadonlySet<string> = new Set(['auth', 'key', 'pass', 'pwd', 'jwt', 'sid']);

/** Parts of sensitive keys, without underscores and hyphens. */
const KEY_PARTS = [
  'password',
  'passwd',
  'secret',
  'token',
  'apikey',
  'authorization',
  'credential',
  'privatekey',
  'accesskey',
  'sessionid',
  'cookie',
  'signature',
  'signingkey',
  'bearer',
  'refresh',
  'otp',
  'pincode',
];

/** How the secrets of well-known services begin: payment, code hosting, chat, cloud, model services. */
const SECRET_SHAPES = [
  /^(?:sk|rk|pk)_(?:live|test)_/,
  /^whsec_/,
  /^(?:ghp|gho|ghu|ghs|ghr)_/,
  /^github_pat_/,
  /^glpat-/,
  /^xox[abeoprs]-/,
  /^(?:AKIA|ASIA)[A-Z0-9]{12}/,
  /^AIza[\w-]{20}/,
  /^ya29\./,
  /^sk-/,
  /^sk_[\w-]{16}/,
  /^Bearer /i,
  /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/,
];

/** True for a key whose value must not be shown. */
export function isSensitiveKey(key: string): boolean {
  const lower = key.toLowerCase();
  if (WHOLE_KEYS.has(lower)) return true;
  const plain = lower.replaceAll(/[_-]/g, '');
  return KEY_PARTS.some((part) => plain.includes(part));
}

/** True for a text that looks like a secret itself, whatever its key is. */
function isSecretShaped(text: string): boolean {
  return SECRET_SHAPES.some((shape) => shape.test(text));
}

/** The value with everything sensitive in it replaced, at any depth. */
export function redact(value: Json): Json {
  if (typeof value === 'string') return isSecretShaped(value) ? REDACTED : value;
  if (isJsonArray(value)) return value.map(redact);
  if (!isJsonObject(value)) return value;
  return jsonObject(
    Object.entries(value).map(([key, inner]) => [key, isSensitiveKey(key) ? REDACTED : redact(inner)]),
  );
}

/** True when `redact` would replace something in the value. */
export function holdsSecret(value: Json): boolean {
  if (typeof value === 'string') return isSecretShaped(value);
  if (isJsonArray(value)) return value.some(holdsSecret);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => isSensitiveKey(key) || holdsSecret(inner));
}

const EXCERPT_CHARACTERS_MAX = 2048;

/** A text for people: words that look like secrets are replaced, and it is cut. */
export function redactedExcerpt(text: string): string {
  const words = text
    .replaceAll(/Bearer\s+\S+/gi, REDACTED)
    .replaceAll(/[^\s"'=:,;()]+/g, (word) => (isSecretShaped(word) ? REDACTED : word));
  return Array.from(words).slice(0, EXCERPT_CHARACTERS_MAX).join('');
}
