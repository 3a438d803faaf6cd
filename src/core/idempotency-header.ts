import { sha256Hex } from './digest.ts';
import { canonicalJson, type Json, jsonObject } from './json.ts';

const MAX_LENGTH = 255;
/** A string of RFC 9651: printable ASCII, with quote and backslash escaped. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
const PRINTABLE = /^[ -~]+$/;

/**
 * The key that a header Idempotency-Key holds: a string in quotes, as the IETF draft writes it, or the bare text; both
 * name the same key. Null for none of 1 to 255 printable ASCII characters (RULINGS B13).
 */
export function parseIdempotencyKey(header: string): string | null {
  const quoted = QUOTED.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, '$1');
  if (quoted === undefined && header.startsWith('"')) return null;
  const key = quoted ?? header;
  return PRINTABLE.test(key) && key.length <= MAX_LENGTH ? key : null;
}

/** What a request asks for. */
export interface AskedFor {
  readonly method: string;
  /** Path of the route, with names of parameters in place of their values. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** undefined: an empty body. */
  readonly body: Json | undefined;
}

/** SHA-256 over the request in canonical form: two bodies that mean the same are the same request. */
export function requestFingerprint({ method, path, params, query, body }: AskedFor): string {
  const parts = [jsonObject(Object.entries(params)), jsonObject(Object.entries(query))];
  return sha256Hex(canonicalJson([method, path, ...parts, body === undefined ? [] : [body]]));
}
