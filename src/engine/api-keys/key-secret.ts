import { equalBytes, sha256HexOfBytes } from '../../core/digest.ts';
import type { Entropy } from '../../ports/system.ts';

const RANDOM_BYTES = 28;
const CHECK_BYTES = 4;
const SECRET = /^sk_([\w-]{43})$/;

/**
 * The secret of a key: `sk_` and 43 characters for 224 random bits and a checksum of them. The checksum keeps nobody out who
 * knows how it is made; it tells what is no key at all from what has to be looked up.
 */
export function newKeySecret(entropy: Entropy): string {
  const random = entropy.bytes(RANDOM_BYTES);
  return `sk_${base64Url(Uint8Array.from([...random, ...checkOf(random)]))}`;
}

/** Whether a text can be a key: a wrong one that was typed, cut or guessed is told without the database. */
export function isKeySecret(text: string): boolean {
  const encoded = SECRET.exec(text)?.[1];
  if (encoded === undefined) return false;
  const bytes = bytesOf(encoded);
  return equalBytes(bytes.subarray(RANDOM_BYTES), checkOf(bytes.subarray(0, RANDOM_BYTES)));
}

function checkOf(random: Uint8Array): Uint8Array {
  const digits = sha256HexOfBytes(random).slice(0, 2 * CHECK_BYTES);
  return Uint8Array.from({ length: CHECK_BYTES }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  );
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function bytesOf(encoded: string): Uint8Array {
  const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
