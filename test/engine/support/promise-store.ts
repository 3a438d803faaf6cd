import { checkPromises } from '../../../src/core/run/promises.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import { TENANT } from './test-engine.ts';

const CHANGING: ReadonlySet<keyof Store> = new Set<keyof Store>([
  'start',
  'commit',
  'signal',
  'patchContext',
  'wakeInstance',
  'wakeLimitWaiters',
  'reportTask',
  'pollTasks',
  'claimDue',
  'claimOne',
  'claimExpired',
  'releaseLeases',
  'voidAllLeases',
]);

/** A store that looks, after each operation that changes something, whether DESIGN promise 2 holds for every instance. */
export function promiseStore(inner: Store): Store {
  return new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== 'function' || !CHANGING.has(name as keyof Store)) return method;
      return async (...args: unknown[]) => {
        const answer: unknown = await Reflect.apply(method, target, args);
        await assertPromises(inner, String(name));
        return answer;
      };
    },
  });
}

async function assertPromises(store: Store, after: string): Promise<void> {
  const all = await store.listInstances({
    ...{
      tenantId: TENANT,
      namespace: null,
      sequenceId: null,
      states: [],
      metadata: [],
      limit: 1000,
      offset: 0,
    },
  });
  for (const { id } of all) {
    const frontier = await store.getFrontier(TENANT, id);
    const broken = frontier === null ? [] : checkPromises(frontier);
    if (broken.length > 0) throw new Error(`after ${after}: ${broken.join('; ')}`);
  }
}
