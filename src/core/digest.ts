import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** SHA-256 of the UTF-8 bytes of a text, in lower-case hex. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** SHA-256 of bytes, in lower-case hex. */
export function sha256HexOfBytes(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/** HMAC with SHA-256; the key is the UTF-8 bytes of `secret`. */
export function hmacSha256(secret: string, message: Uint8Array): Uint8Array {
  return hmacSha256OfKey(utf8ToBytes(secret), message);
}

export function hmacSha256OfKey(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(sha256, key, message);
}

/**
 * True when both are the same, in a time that depends on nothing but their lengths' maximum. Secrets of unknown length
 * are hashed first, so that nothing about them shows.
 */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0);
  return difference === 0;
}

/** True when two secrets are equal, compared by their digests in constant time. */
export function equalSecrets(left: string, right: string): boolean {
  return equalBytes(sha256(utf8ToBytes(left)), sha256(utf8ToBytes(right)));
}
