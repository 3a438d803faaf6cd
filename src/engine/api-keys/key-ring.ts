import { sha256Hex } from '../../core/digest.ts';
import type { ApiKey, ApiKeyStore } from '../../ports/store/api-keys.ts';
import type { Clock } from '../../ports/system.ts';
import { isKeySecret } from './key-secret.ts';

/** Looks keys up, and remembers them for a moment. */
export interface KeyRing {
  /**
   * The live key with this secret. Only what can be a key and is not remembered is looked up.
   *
   * @param takePlace Asked before the database is, unless the key has proven right here before: what it answers is called
   *   when the key proves right. Null: there is no room to look it up.
   */
  find(secret: string, takePlace: () => (() => void) | null): Promise<ApiKey | 'wrong' | 'no_room'>;
  /** All keys are looked up anew: one was revoked here. */
  forget(): void;
}

/** A key that another process revoked is refused after this time at the latest. */
const REMEMBERED_MS = 5_000;
const KEYS_MAX = 10_000;
/** What a key that is remembered has to give back. */
const NO_PLACE = (): void => undefined;

interface Entry {
  readonly key: ApiKey;
  readonly at: number;
}

export function createKeyRing(
  store: Pick<ApiKeyStore, 'useApiKey'>,
  clock: Pick<Clock, 'monotonicMs' | 'nowMs'>,
): KeyRing {
  const known = new Map<string, Entry>();
  /** How often all were forgotten. */
  let forgotten = 0;
  return {
    async find(secret, takePlace) {
      if (!isKeySecret(secret)) return 'wrong';
      const hash = sha256Hex(secret);
      const entry = known.get(hash);
      const isFresh = entry !== undefined && clock.monotonicMs() - entry.at < REMEMBERED_MS;
      if (isFresh && !hasExpired(entry.key, clock.nowMs())) return entry.key;
      const giveBack = entry === undefined ? takePlace() : NO_PLACE;
      if (giveBack === null) return 'no_room';
      const before = forgotten;
      const key = await store.useApiKey(hash);
      if (key === null) {
        known.delete(hash);
        return 'wrong';
      }
      giveBack();
      // An answer from before a revocation must not outlive it.
      if (forgotten !== before) return key;
      known.delete(hash);
      if (known.size >= KEYS_MAX) known.clear();
      known.set(hash, { key, at: clock.monotonicMs() });
      return key;
    },
    forget() {
      forgotten += 1;
      // They have proven right once, so they need no place.
      for (const [hash, entry] of known) known.set(hash, { ...entry, at: Number.NEGATIVE_INFINITY });
    },
  };
}

function hasExpired({ expiresAt }: ApiKey, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
