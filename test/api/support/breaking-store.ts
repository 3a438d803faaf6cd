import type { KeyAttempt } from '../../../src/ports/store/idempotency.ts';
import { type Store, StoreUnavailable } from '../../../src/ports/store/store.ts';

/** A store some of whose methods find no database, also within an attempt of a request with a key. */
export function breaking(store: Store, isBroken: (name: string) => boolean): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (isBroken(String(name))) {
        return () => Promise.reject(new StoreUnavailable('the connection was lost', { unknown: true }));
      }
      if (name === 'withinBytes') {
        return (maxBytes: number) => breaking(target.withinBytes(maxBytes), isBroken);
      }
      if (name !== 'openAttempt') return Reflect.get(target, name);
      return async (attempt: KeyAttempt) => {
        const stores = await target.openAttempt(attempt);
        return { of: (scope: string) => breaking(stores.of(scope), isBroken) };
      };
    },
  });
}
