import type { Plan } from '../core/run/plan.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import { effectivePlan } from '../core/run/reshape/injection.ts';
import type { CatalogStore } from '../ports/store/catalog.ts';
import type { ShapeStore } from '../ports/store/shape.ts';
import { loadReading } from './reading.ts';

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

export function createDefinitions(store: Source, memory = createPlanMemory()): Definitions {
  const remember = onceAtATime(memory);
  const plan = (tenantId: string, sequenceId: string): Promise<Plan | null> =>
    remember(`${tenantId}\u0000${sequenceId}`, async () => {
      const record = await store.getSequence(tenantId, sequenceId);
      if (record === null) return NOTHING;
      const { planOf } = await loadReading();
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
        const { shapeUpTo } = await import('./shape-up-to.ts');
        const whole = effectivePlan(base, shapeUpTo(base, changes, applied));
        return { plan: whole, bytes: JSON.stringify(whole.document).length };
      });
    },
  };
}

/**
 * Plans by key, those used last. Nothing in it is under way, so the invocations of a process may share it where the host
 * ties all IO to one of them.
 */
export interface PlanMemory {
  get(key: string): Plan | undefined;
  put(key: string, plan: Plan, bytes: number): void;
}

export function createPlanMemory(bytesMax = BYTES_MAX): PlanMemory {
  const entries = new Map<string, { readonly plan: Plan; readonly bytes: number }>();
  let total = 0;

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
    get(key) {
      const known = entries.get(key);
      if (known === undefined) return undefined;
      entries.delete(key);
      entries.set(key, known);
      return known.plan;
    },
    put(key, plan, bytes) {
      forget(key);
      entries.set(key, { plan, bytes });
      total += bytes;
      makeRoom();
    },
  };
}

type Remember = (key: string, load: () => Promise<Loaded>) => Promise<Plan | null>;

/** Each plan is loaded once, however many ask for it at the same time. What failed or is not there is asked for again. */
function onceAtATime(memory: PlanMemory): Remember {
  const loading = new Map<string, Promise<Plan | null>>();
  const read = async (key: string, load: () => Promise<Loaded>): Promise<Plan | null> => {
    try {
      const { plan, bytes } = await load();
      if (plan !== null) memory.put(key, plan, bytes);
      return plan;
    } finally {
      loading.delete(key);
    }
  };
  return (key, load) => {
    const known = memory.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const underWay = loading.get(key) ?? read(key, load);
    loading.set(key, underWay);
    return underWay;
  };
}
