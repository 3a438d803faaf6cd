import { gcm } from '@noble/ciphers/aes.js';
import { bytesToUtf8, hexToBytes, utf8ToBytes } from '@noble/ciphers/utils.js';
import { decodeBase64, encodeBase64 } from '../core/expressions/base64.ts';
import type { Seal } from '../ports/seal.ts';
import type { Entropy } from '../ports/system.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = 'v1.';
const PLAIN = 'plain.';

/** 64 hex digits (http-api.md 30). */
const KEY = /^[0-9a-f]{64}$/i;

export function isSealKey(text: string): boolean {
  return KEY.test(text);
}

/**
 * Seals with AES-256-GCM. `oldKey` opens what an earlier key has sealed, and so is text that was kept before there was a
 * key; both are sealed anew when they are written again. Workers have no Node, and the web's own cipher answers later only,
 * so a cipher in JavaScript serves all hosts alike; what it seals is short.
 */
export function createSeal(keys: { readonly key: string; readonly oldKey?: string }, entropy: Entropy): Seal {
  const key = hexToBytes(keys.key);
  const known = keys.oldKey === undefined ? [key] : [key, hexToBytes(keys.oldKey)];
  return {
    seal: (secret, context) => {
      const nonce = entropy.bytes(NONCE_BYTES);
      const text = gcm(key, nonce, utf8ToBytes(context)).encrypt(utf8ToBytes(secret));
      const sealed = new Uint8Array(NONCE_BYTES + text.length);
      sealed.set(nonce);
      sealed.set(text, NONCE_BYTES);
      return `${SEALED}${bytesToUtf8(encodeBase64(sealed))}`;
    },
    open: (sealed, context) => {
      if (sealed.startsWith(PLAIN)) return sealed.slice(PLAIN.length);
      if (!sealed.startsWith(SEALED)) return null;
      const bytes = decodeBase64(sealed.slice(SEALED.length));
      if (bytes === undefined) return null;
      for (const candidate of known) {
        const secret = decrypt(candidate, bytes, context);
        if (secret !== null) return secret;
      }
      return null;
    },
  };
}

function decrypt(key: Uint8Array, bytes: Uint8Array, context: string): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const cipher = gcm(key, bytes.subarray(0, NONCE_BYTES), utf8ToBytes(context));
    return bytesToUtf8(cipher.decrypt(bytes.subarray(NONCE_BYTES)));
  } catch {
    return null;
  }
}

/** Keeps secrets as they are: for servers without keys of any kind (`dev`, STEPWELL_INSECURE). */
export const plainSeal: Seal = {
  seal: (secret) => `${PLAIN}${secret}`,
  open: (sealed) => (sealed.startsWith(PLAIN) ? sealed.slice(PLAIN.length) : null),
};
