import type { Plan } from '../core/run/plan.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import { effectivePlan } from '../core/run/reshape/injection.ts';
import type { CatalogStore } from '../ports/store/catalog.ts';
import type { ShapeStore } from '../ports/store/shape.ts';
import { planOf } from './read-plan.ts';
import { shapeUpTo } from './shape-up-to.ts';

const BYTES_MAX = 64 * 1024 * 1024;

/**
 * Compiled sequences by id, and those of runs that were changed by instance and number of the last change. Neither ever
 * changes, so an entry never goes stale (RULINGS B14); old ones make room.
 */
export interface Definitions {
  /** null: there is no such version, or it was written by a build this one does not understand. */
  plan(tenantId: string, sequenceId: string): Promise<Plan | null>;
  /** The plan that the frames of an instance are of: its sequence with what was injected ([OP-10]). */
  planOf(instance: ShapedInstance): Promise<Plan | null>;
}

export type ShapedInstance = Pick<InstanceRecord, 'id' | 'tenantId' | 'sequenceId' | 'shape'>;

type Source = Pick<CatalogStore, 'getSequence'> & Pick<ShapeStore, 'listShapeChanges'>;

interface Loaded {
  readonly plan: Plan | null;
  readonly bytes: number;
}

const NOTHING: Loaded = { plan: null, bytes: 0 };

export function createDefinitions(store: Source, bytesMax = BYTES_MAX): Definitions {
  const remember = createMemory(bytesMax);
  const plan = (tenantId: string, sequenceId: string): Promise<Plan | null> =>
    remember(`${tenantId}\u0000${sequenceId}`, async () => {
      const record = await store.getSequence(tenantId, sequenceId);
      if (record === null) return NOTHING;
      return { plan: planOf(record), bytes: JSON.stringify(record.definition).length };
    });
  return {
    plan,
    planOf({ id, tenantId, sequenceId, shape }) {
      const applied = shape?.applied ?? 0;
      if (applied === 0) return plan(tenantId, sequenceId);
      return remember(`${tenantId}\u0000${sequenceId}\u0000${id}\u0000${applied}`, async () => {
        const base = await plan(tenantId, sequenceId);
        if (base === null) return NOTHING;
        const changes = await store.listShapeChanges({ tenantId, instanceId: id });
        const whole = effectivePlan(base, shapeUpTo(base, changes, applied));
        return { plan: whole, bytes: JSON.stringify(whole.document).length };
      });
    },
  };
}

type Remember = (key: string, load: () => Promise<Loaded>) => Promise<Plan | null>;

interface Entry {
  plan: Promise<Plan | null>;
  bytes: number;
}

/** Plans by key, those used last; each is loaded once, however many ask for it. */
function createMemory(bytesMax: number): Remember {
  const entries = new Map<string, Entry>();
  let total = 0;

  const read = async (key: string, entry: Entry, load: () => Promise<Loaded>): Promise<Plan | null> => {
    const { plan, bytes } = await load();
    // It may have made room for others while it was read; then it takes none.
    if (entries.get(key) === entry) {
      entry.bytes = bytes;
      total += bytes;
    }
    return plan;
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

  return async (key, load) => {
    const known = entries.get(key);
    if (known !== undefined) {
      entries.delete(key);
      entries.set(key, known);
      return known.plan;
    }
    const entry: Entry = { plan: Promise.resolve(null), bytes: 0 };
    entries.set(key, entry);
    entry.plan = read(key, entry, load);
    try {
      const plan = await entry.plan;
      if (plan === null) forget(key);
      else makeRoom();
      return plan;
    } catch (error) {
      forget(key);
      throw error;
    }
  };
}
