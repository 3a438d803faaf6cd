import { equalBytes, hmacSha256 } from '../core/digest.ts';
import { canonicalJson, type Json } from '../core/json.ts';

/** What a cursor is good for: it names a place in this list alone (reliability.md X23). */
export interface CursorScope {
  /** The path of the route. */
  readonly endpoint: string;
  /** null: a list of all tenants. */
  readonly tenantId: string | null;
  /** Filter and order of the list. */
  readonly list: Json;
}

/** The last row of a page: the instant of the order in epoch milliseconds, and the id. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

/** Cut to what nobody can guess. */
const MAC_BYTES = 16;
const FORM = /^(\d{1,15})\.([0-9a-f-]{36})\.([0-9a-f]{32})$/;

/**
 * The text of a cursor: place and proof. The proof keeps a client from making places of its own and from taking one to another
 * list; it protects nothing else, since the tenant is a condition of every list anyway. A server without a root key has no
 * secret, and its proof only finds mistakes. A change of the key ends all cursors.
 */
export function writeCursor(rootKey: string | null, scope: CursorScope, { at, id }: Place): string {
  return btoa(`${at}.${id}.${proofOf(rootKey, scope, { at, id })}`)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** null: it was made for another list, or changed on the way. */
export function readCursor(rootKey: string | null, scope: CursorScope, text: string): Place | null {
  const [, at = '', id = '', proof = ''] = FORM.exec(decoded(text)) ?? [];
  const place = { at: Number(at), id };
  const isSame = equalBytes(bytesOf(proof), bytesOf(proofOf(rootKey, scope, place)));
  // A cursor has one spelling: decoders forgive bits at the end.
  return proof !== '' && isSame && writeCursor(rootKey, scope, place) === text ? place : null;
}

function decoded(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

function proofOf(rootKey: string | null, { endpoint, tenantId, list }: CursorScope, place: Place): string {
  const said = canonicalJson([endpoint, tenantId, list, place.at, place.id]);
  const mac = hmacSha256(`stepwell cursor ${rootKey ?? ''}`, bytesOf(said)).slice(0, MAC_BYTES);
  return Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
