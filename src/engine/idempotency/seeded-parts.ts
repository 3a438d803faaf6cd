import { hmacSha256 } from '../../core/digest.ts';
import { utf8Bytes } from '../../core/json.ts';
import type { Entropy } from '../../ports/system.ts';
import { createIdSource, type IdSource, uuidTimeMs } from '../ids.ts';

/**
 * Bytes that follow from a secret and a seed: another attempt of the same request gets the same ones. Who knows the seed
 * alone, from the database, cannot tell them.
 */
export function seededEntropy(secret: string, seed: string): Entropy {
  let blocks = 0;
  let rest: number[] = [];
  return {
    bytes(length) {
      while (rest.length < length) {
        const message = `${seed}:${blocks}`;
        const bytes = Uint8Array.from({ length: utf8Bytes(message) }, (_, at) => message.charCodeAt(at));
        rest = [...rest, ...hmacSha256(secret, bytes)];
        blocks += 1;
      }
      const taken = rest.slice(0, length);
      rest = rest.slice(length);
      return Uint8Array.from(taken);
    },
  };
}

/** Ids of the moment at which the first attempt began, the same for each attempt. */
export function seededIds(entropy: Entropy, seed: string): IdSource {
  const atMs = uuidTimeMs(seed);
  return createIdSource({ nowMs: () => atMs }, entropy, seed);
}
