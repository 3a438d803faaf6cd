import { sha256Hex } from '../../core/digest.ts';
import type { ApiKey, ApiKeyStore } from '../../ports/store/api-keys.ts';
import type { Clock } from '../../ports/system.ts';
import { isKeySecret } from './key-secret.ts';

/** Looks keys up, and remembers them for a moment. */
export interface KeyRing {
  /**
   * The live key with this secret; null when there is none. Only what can be a key and is not remembered is looked up.
   *
   * @param mayLookUp Asked before the database is; false: the answer is null without it.
   */
  find(secret: string, mayLookUp: () => boolean): Promise<ApiKey | null>;
  /** Nothing is remembered any more: a key was revoked here. */
  forget(): void;
}

/** A key that another process revoked is refused after this time at the latest. */
const REMEMBERED_MS = 5_000;
const KEYS_MAX = 10_000;

interface Entry {
  readonly key: ApiKey;
  readonly at: number;
}

export function createKeyRing(
  store: Pick<ApiKeyStore, 'useApiKey'>,
  clock: Pick<Clock, 'monotonicMs' | 'nowMs'>,
): KeyRing {
  const known = new Map<string, Entry>();
  return {
    async find(secret, mayLookUp) {
      if (!isKeySecret(secret)) return null;
      const hash = sha256Hex(secret);
      const entry = known.get(hash);
      const isFresh = entry !== undefined && clock.monotonicMs() - entry.at < REMEMBERED_MS;
      if (isFresh && !hasExpired(entry.key, clock.nowMs())) return entry.key;
      if (!mayLookUp()) return null;
      const key = await store.useApiKey(hash);
      known.delete(hash);
      if (key === null) return null;
      if (known.size >= KEYS_MAX) known.clear();
      known.set(hash, { key, at: clock.monotonicMs() });
      return key;
    },
    forget: () => known.clear(),
  };
}

function hasExpired({ expiresAt }: ApiKey, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
