import type { Json } from '../json.ts';
import { canonicalJson, utf8Bytes } from '../json.ts';
import type { Problem } from './problems.ts';

/** The deepest nesting of JSON in a document: 64 levels of the widest block take 256, params take the rest. */
export const MAX_DOCUMENT_JSON_DEPTH = 512;

/** The largest document as canonical JSON ([LIM-19]). */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/**
 * The bounds that every later check relies on: whatever passes may be walked recursively. They come before the shape
 * because a document that breaks them is an attack on the shape check itself.
 */
export function checkBounds(body: Json): Problem | null {
  if (jsonDepthExceeds(body, MAX_DOCUMENT_JSON_DEPTH)) {
    return {
      path: '',
      rule: 'LIM-2',
      message: `the document is nested more than ${MAX_DOCUMENT_JSON_DEPTH} levels deep`,
    };
  }
  const bytes = utf8Bytes(canonicalJson(body));
  if (bytes > MAX_DOCUMENT_BYTES) {
    return {
      path: '',
      rule: 'LIM-19',
      message: `the document has ${bytes} bytes as canonical JSON, at most ${MAX_DOCUMENT_BYTES} are allowed`,
    };
  }
  return null;
}

/** True when the value has more than `limit` levels of arrays and objects. Works without recursion. */
export function jsonDepthExceeds(value: Json, limit: number): boolean {
  const pending: { readonly value: Json; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > limit) return true;
    for (const child of Object.values(next.value)) pending.push({ value: child, depth });
  }
  return false;
}
