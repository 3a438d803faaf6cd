import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Seal } from '../ports/seal.ts';
import type { Entropy } from '../ports/system.ts';

const ALGORITHM = 'aes-256-gcm';
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
 * key; both are sealed anew when they are written again.
 */
export function createSeal(keys: { readonly key: string; readonly oldKey?: string }, entropy: Entropy): Seal {
  const key = Buffer.from(keys.key, 'hex');
  const known = keys.oldKey === undefined ? [key] : [key, Buffer.from(keys.oldKey, 'hex')];
  return {
    seal: (secret, context) => {
      const nonce = entropy.bytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce);
      cipher.setAAD(Buffer.from(context));
      const parts = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${SEALED}${Buffer.concat(parts).toString('base64')}`;
    },
    open: (sealed, context) => {
      if (sealed.startsWith(PLAIN)) return sealed.slice(PLAIN.length);
      if (!sealed.startsWith(SEALED)) return null;
      const bytes = Buffer.from(sealed.slice(SEALED.length), 'base64');
      for (const candidate of known) {
        const secret = decrypt(candidate, bytes, context);
        if (secret !== null) return secret;
      }
      return null;
    },
  };
}

function decrypt(key: Buffer, bytes: Buffer, context: string): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Keeps secrets as they are: for servers without keys of any kind (`dev`, STEPWELL_INSECURE). */
export const plainSeal: Seal = {
  seal: (secret) => `${PLAIN}${secret}`,
  open: (sealed) => (sealed.startsWith(PLAIN) ? sealed.slice(PLAIN.length) : null),
};
