import type { Plan } from '../core/run/plan.ts';
import type { CatalogStore } from '../ports/store/catalog.ts';
import { planOf } from './read-plan.ts';

const BYTES_MAX = 64 * 1024 * 1024;

/** Compiled sequences by id. A version is immutable, so an entry never goes stale (RULINGS B14); old ones make room. */
export interface Definitions {
  /** null: there is no such version, or it was written by a build this one does not understand. */
  plan(tenantId: string, sequenceId: string): Promise<Plan | null>;
}

interface Entry {
  readonly plan: Promise<Plan | null>;
  bytes: number;
}

export function createDefinitions(
  store: Pick<CatalogStore, 'getSequence'>,
  bytesMax = BYTES_MAX,
): Definitions {
  const entries = new Map<string, Entry>();
  let total = 0;

  const load = async (
    key: string,
    entry: Entry,
    tenantId: string,
    sequenceId: string,
  ): Promise<Plan | null> => {
    const record = await store.getSequence(tenantId, sequenceId);
    if (record === null) return null;
    // It may have made room for others while it was read; then it takes none.
    if (entries.get(key) === entry) {
      entry.bytes = JSON.stringify(record.definition).length;
      total += entry.bytes;
    }
    return planOf(record);
  };

  const forget = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };

  const makeRoom = (): void => {
    for (const key of entries.keys()) {
      if (total <= bytesMax || entries.size === 1) return;
      forget(key);
    }
  };

  return {
    async plan(tenantId, sequenceId) {
      const key = `${tenantId}\u0000${sequenceId}`;
      const known = entries.get(key);
      if (known !== undefined) {
        entries.delete(key);
        entries.set(key, known);
        return known.plan;
      }
      const entry: { plan: Promise<Plan | null>; bytes: number } = { plan: Promise.resolve(null), bytes: 0 };
      entries.set(key, entry);
      entry.plan = load(key, entry, tenantId, sequenceId);
      try {
        const plan = await entry.plan;
        if (plan === null) forget(key);
        else makeRoom();
        return plan;
      } catch (error) {
        forget(key);
        throw error;
      }
    },
  };
}
