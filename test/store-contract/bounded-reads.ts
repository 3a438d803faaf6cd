import { expect, it } from 'vitest';
import type { ListInstancesQuery } from '../../src/ports/store/instance-lists.ts';
import { ReadTooLarge } from '../../src/ports/store/bounded-reads.ts';
import type { Store } from '../../src/ports/store/store.ts';
import {
  TENANT,
  frame,
  gate,
  nextId,
  row,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const ALL: ListInstancesQuery = {
  tenantId: TENANT,
  namespace: null,
  sequenceId: null,
  states: [],
  metadata: [],
  limit: 100,
  offset: 0,
};

const KIB = 1024;
const LARGE = { text: 'x'.repeat(10 * KIB) };

/** Registers how reads are kept from bringing more than a process can hold, over any store. */
export function describeBoundedReads(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const startLarge = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      ids.push(await world.start({ data: LARGE }));
      await world.advance(1);
    }
    return ids.toReversed();
  };

  it('a page ends before the instance that makes it too long, and the next one begins with that', async () => {
    const ids = await startLarge(7);
    for (const order of ['updated', 'created'] as const) {
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let after: ListInstancesQuery['after'] = null, hasMore = true; hasMore; ) {
        const page = await world.store.pageInstances({ ...ALL, order, after }, 35 * KIB);
        const last = page.items.at(-1);
        seen.push(...page.items.map(({ id }) => id));
        sizes.push(page.items.length);
        hasMore = page.hasMore;
        after =
          last === undefined
            ? null
            : { at: order === 'created' ? last.createdAt : last.updatedAt, id: last.id };
      }
      expect(seen).toEqual(ids);
      expect(sizes).toEqual([3, 3, 1]);
    }
  });

  it('a page has one instance however long that is, unless none is asked for', async () => {
    const [newest] = await startLarge(2);
    const paged = async (limit: number, maxBytes: number) => {
      const page = await world.store.pageInstances({ ...ALL, limit }, maxBytes);
      return [page.items.map(({ id }) => id), page.hasMore];
    };
    expect(await paged(10, 1)).toEqual([[newest], true]);
    expect((await world.store.withinBytes(1).pageInstances(ALL, 1)).items).toHaveLength(1);
    expect(await paged(1, 100 * KIB)).toEqual([[newest], true]);
    expect(await paged(0, 100 * KIB)).toEqual([[], true]);
    expect((await paged(2, 100 * KIB))[1]).toBe(false);
    expect(await world.store.pageInstances({ ...ALL, tenantId: 'other' }, 1)).toEqual({
      items: [],
      hasMore: false,
    });
  });

  it('a page shows what the whole list shows', async () => {
    await startLarge(3);
    const { items } = await world.store.pageInstances(ALL, 100 * KIB);
    expect(items).toEqual(await world.store.listInstances(ALL));
  });

  it('a list that is too long is refused, and a part of it is not', async () => {
    const session = nextId();
    await world.store.insertSession({
      id: session,
      tenantId: TENANT,
      sessionKey: 'k',
      data: {},
      expiresAt: null,
    });
    for (let index = 0; index < 5; index += 1) {
      await world.start({ data: LARGE, sessionId: session });
      await world.store.acceptEvent({
        ...{
          tenantId: TENANT,
          id: nextId(),
          eventName: 'e',
          producerEventId: `${index}`,
          correlationKey: 'k',
        },
        payload: LARGE,
      });
    }
    const lists: readonly ((store: Store, limit: number) => Promise<readonly unknown[] | null>)[] = [
      (store, limit) => store.listInstances({ ...ALL, limit }),
      (store, limit) => store.listSessionInstances(TENANT, session, { limit, offset: 0 }),
      (store, limit) => store.listEvents({ tenantId: TENANT, status: null, limit }),
    ];
    const bounded = world.store.withinBytes(35 * KIB);
    for (const list of lists) {
      await expect(list(bounded, 5)).rejects.toThrow(ReadTooLarge);
      expect(await list(bounded, 2)).toEqual(await list(world.store, 2));
      expect(await list(bounded, 2)).toHaveLength(2);
    }
  });

  it('open gates are refused together and shown one by one', async () => {
    for (let index = 0; index < 4; index += 1) {
      const id = await world.start({ data: LARGE });
      const leaf = waitingLeaf('input', { gate: gate() });
      await world.apply(
        turnOf(await world.claim(id), {
          frames: [write(frame({ leaf }))],
          settle: settleAs('waiting', { openWaits: 1 }),
        }),
      );
    }
    const bounded = world.store.withinBytes(35 * KIB);
    const query = { tenantId: TENANT, namespace: null, instanceId: null, sequenceId: null, offset: 0 };
    const whole = await world.store.listOpenGates({ ...query, limit: 10 });
    expect([whole.items.length, whole.total]).toEqual([4, 4]);
    await expect(bounded.listOpenGates({ ...query, limit: 10 })).rejects.toThrow(ReadTooLarge);
    const part = await bounded.listOpenGates({ ...query, limit: 2, offset: 1 });
    expect(part).toEqual({ items: whole.items.slice(1, 3), total: 4 });
    expect(await bounded.listOpenGates({ ...query, limit: 2, offset: 9 })).toEqual({ items: [], total: 4 });
  });

  it('outputs are cut at a number of bytes, or refused together; one by its id comes whatever its size', async () => {
    const claim = await world.claim(await world.start());
    const { instanceId } = claim;
    const rows = Array.from({ length: 5 }, (_, n) => row({ blockId: `b${n}`, output: LARGE }));
    await world.apply(turnOf(claim, { rows }));
    const which = { node: false, retry: false };
    const whole = (await world.store.listOutputs(TENANT, instanceId, which)) ?? [];
    expect(whole).toHaveLength(5);
    const cut = (maxBytes: number, more = {}) =>
      world.store.listOutputs(TENANT, instanceId, { ...which, maxBytes, ...more });
    expect(await cut(35 * KIB)).toEqual(whole.slice(0, 3));
    expect(await cut(1)).toEqual(whole.slice(0, 1));
    expect(await cut(1, { after: whole[2] })).toEqual(whole.slice(3, 4));
    expect(await cut(25 * KIB, { beforeId: whole[4]?.id, limit: 3 })).toEqual(whole.slice(2, 4));
    const bounded = world.store.withinBytes(5 * KIB);
    await expect(bounded.listOutputs(TENANT, instanceId, which)).rejects.toThrow(ReadTooLarge);
    expect(await bounded.getOutput(TENANT, instanceId, whole[0]?.id ?? '')).toEqual(whole[0]);
  });

  it('a bounded store knows what there is not, as the whole one does', async () => {
    const bounded = world.store.withinBytes(KIB);
    expect(await bounded.listChildren(TENANT, nextId())).toBeNull();
    expect(await bounded.listChildren(TENANT, await world.start())).toEqual([]);
    expect(await bounded.listSessionInstances(TENANT, nextId(), { limit: 10, offset: 0 })).toBeNull();
    expect(await bounded.listOutputs(TENANT, nextId(), { node: false, retry: false })).toBeNull();
    expect(await bounded.getInstance('other', await world.start())).toBeNull();
  });
}
