import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { useBackend } from '../api/support/backends.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import { nameOf } from './support/documented.ts';
import { REQUESTS } from './support/read-requests.ts';

/** Calls of the store that store nothing. */
const READS =
  /^(?:get|list|find|count|ping|page|latest|live|next|search|summar|inspect|changes|read|taskStats|lookForWork$)/;

const backend = useBackend('memory');
let world: ContractWorld;
let called: Set<string> | null = null;

beforeAll(async () => {
  world = await createContractWorld({
    ...backend,
    fresh: async () => {
      const underTest = await backend.fresh();
      return { ...underTest, store: told(underTest.store) };
    },
  });
});
afterAll(() => world.api.stop());

function told(store: Store): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      if (name === 'withinBytes') return (maxBytes: number) => told(target.withinBytes(maxBytes));
      return (...args: unknown[]) => {
        called?.add(name);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

// A host keeps a wake before what is not a GET (decision 0020), so a GET may leave nothing behind that falls due.
it.each(ROUTES.filter(({ method }) => method === 'GET').map((route) => [nameOf(route), route] as const))(
  '%s stores nothing',
  async (name, route) => {
    const request = await REQUESTS[name]?.(world);
    expect(request).toBeDefined();
    called = new Set();
    const prefix = route.mount === 'both' ? '/api/v1' : '';
    await world.send('GET', `${prefix}${request?.path ?? ''}`, { headers: request?.headers ?? {} });
    const names = [...called];
    called = null;
    expect(names.filter((one) => !READS.test(one))).toEqual([]);
  },
);
