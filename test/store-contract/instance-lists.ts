import { expect, it } from 'vitest';
import type { ListInstancesQuery } from '../../src/ports/store/instance-lists.ts';
import {
  TENANT,
  auditEntry,
  child,
  frame,
  nextId,
  sequence,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { ALL_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const EVERYTHING: ListInstancesQuery = {
  tenantId: null,
  namespace: null,
  sequenceId: null,
  states: [],
  metadata: [],
  limit: 100,
  offset: 0,
};

export function describeInstanceLists(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const idsOf = async (overrides: Partial<ListInstancesQuery> = {}): Promise<readonly string[]> =>
    (await world.store.listInstances({ ...EVERYTHING, ...overrides })).map(({ id }) => id);

  /** A parent and the child it waits for. */
  async function family(): Promise<{ readonly parentId: string; readonly childId: string }> {
    const parentId = await world.start();
    const started = child();
    await world.apply(
      turnOf(await world.claim(parentId), {
        childrenStarted: [started],
        frames: [write(frame({ leaf: waitingLeaf('child', { childId: started.id }) }))],
        audit: [auditEntry('running', 'waiting')],
        settle: settleAs('waiting', { openWaits: 1 }),
      }),
    );
    return { parentId, childId: started.id };
  }

  it('pages follow each other without gap or overlap, by the last change and by creation (dashboard.md A3)', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      if (index % 3 === 0) await world.advance(5);
      ids.push(await world.start(index === 4 ? { tenantId: 'other' } : {}));
    }
    await world.advance(5);
    await world.apply(turnOf(await world.claim(ids[1] ?? ''), { settle: settleAs('paused') }));
    for (const order of ['updated', 'created'] as const) {
      for (const tenantId of [null, TENANT]) {
        const whole = await world.store.listInstances({ ...EVERYTHING, tenantId, order });
        const paged: string[] = [];
        let after: ListInstancesQuery['after'] = null;
        for (;;) {
          const page = await world.store.listInstances({ ...EVERYTHING, tenantId, order, after, limit: 2 });
          const last = page.at(-1);
          if (last === undefined) break;
          paged.push(...page.map(({ id }) => id));
          after = { at: order === 'created' ? last.createdAt : last.updatedAt, id: last.id };
        }
        expect(paged).toEqual(whole.map(({ id }) => id));
      }
    }
    expect(await idsOf({ order: 'created' })).toEqual(ids.toReversed());
    expect((await idsOf())[0]).toBe(ids[1]);
  });

  it('a list of roots leaves out what other instances have started', async () => {
    const { parentId, childId } = await family();
    expect(new Set(await idsOf())).toEqual(new Set([parentId, childId]));
    for (const order of ['updated', 'created'] as const) {
      expect(await idsOf({ rootOnly: true, order })).toEqual([parentId]);
    }
    expect(await world.store.countInstances({ ...EVERYTHING, rootOnly: true }, 10)).toMatchObject({
      waiting: 1,
      scheduled: 0,
    });
  });

  it('a list by the name of a sequence has the instances of all its versions', async () => {
    const versions = [sequence({ version: 1 }), sequence({ version: 2, namespace: 'returns' })];
    const unlike = sequence({ name: 'other-name' });
    for (const one of [...versions, unlike]) await world.store.insertSequence(one);
    const ids: string[] = [];
    for (const { id } of [...versions, unlike]) ids.push(await world.start({ sequenceId: id }));
    const [first = '', second = ''] = ids;
    for (const order of ['updated', 'created'] as const) {
      const named = { sequenceName: 'parcel-return', order };
      expect(await idsOf(named)).toEqual([second, first]);
      expect(await idsOf({ ...named, tenantId: TENANT, limit: 1 })).toEqual([second]);
      expect(await idsOf({ ...named, sequenceId: versions[0]?.id ?? null })).toEqual([first]);
      expect(await idsOf({ ...named, sequenceId: unlike.id })).toEqual([]);
      expect(await idsOf({ ...named, tenantId: 'other' })).toEqual([]);
      expect(await idsOf({ sequenceName: 'nobody', order })).toEqual([]);
    }
    expect(
      await world.store.countInstances({ ...EVERYTHING, sequenceName: 'parcel-return' }, 10),
    ).toMatchObject({
      scheduled: 2,
    });
  });

  it('a list is filtered by keys, by the beginning of the id and by the time of creation', async () => {
    const first = await world.start({
      idempotencyKey: 'order-1',
      concurrencyKey: 'depot',
      maxConcurrency: 1,
    });
    await world.advance(10);
    const second = await world.start({ idempotencyKey: 'order-1', dryRun: true });
    await world.advance(10);
    const third = await world.start({ concurrencyKey: 'depot', maxConcurrency: 1 });
    const times = await Promise.all(
      [first, second, third].map(async (id) => (await world.view(id)).createdAt),
    );
    const [firstAt = 0, , thirdAt = 0] = times;
    const range = { from: second, to: second };
    for (const order of ['updated', 'created'] as const) {
      expect(await idsOf({ order, idempotencyKey: 'order-1' })).toEqual([second, first]);
      expect(await idsOf({ order, concurrencyKey: 'depot' })).toEqual([third, first]);
      expect(await idsOf({ order, idRange: range })).toEqual([second]);
      expect(await idsOf({ order, createdAfter: firstAt })).toEqual([third, second]);
      expect(await idsOf({ order, createdBefore: thirdAt })).toEqual([second, first]);
      expect(await idsOf({ order, createdAfter: firstAt, createdBefore: thirdAt })).toEqual([second]);
    }
  });

  it('instances are found by what their metadata contains, in both orders and counted', async () => {
    const one = await world.start({ metadata: { depot: 'north', lane: 'a' } });
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push(await world.start({ metadata: { lane: 'a', n: String(index) } }));
    }
    const depot = [['depot', 'north']] as const;
    const lane = [['lane', 'a']] as const;
    expect(await idsOf({ metadata: depot, tenantId: TENANT })).toEqual([one]);
    expect(await idsOf({ metadata: lane, limit: 2, order: 'created' })).toEqual([ids[2], ids[1]]);
    expect(await idsOf({ metadata: lane, limit: 2, offset: 2 })).toEqual([ids[0], one]);
    expect(await idsOf({ metadata: lane, states: ['failed'] })).toEqual([]);
    expect(await idsOf({ metadata: depot, tenantId: 'other' })).toEqual([]);
    const counts = await world.store.countInstances({ ...EVERYTHING, metadata: lane }, 3);
    expect(counts).toMatchObject({ scheduled: 3, failed: 0 });
  });

  it('instances are counted by state, each no further than asked (dashboard.md A4)', async () => {
    for (const state of ALL_STATES) await world.inState(state);
    await world.start({ tenantId: 'other' });
    await world.start({ namespace: 'returns' });
    const all = await world.store.countInstances(EVERYTHING, 2);
    expect(all).toEqual({ ...Object.fromEntries(ALL_STATES.map((state) => [state, 1])), scheduled: 2 });
    const own = await world.store.countInstances({ ...EVERYTHING, tenantId: TENANT }, 100);
    expect(own).toMatchObject({ scheduled: 2, failed: 1 });
    const some = await world.store.countInstances({ ...EVERYTHING, states: ['failed', 'paused'] }, 100);
    expect(some).toMatchObject({ failed: 1, paused: 1, scheduled: 0, completed: 0 });
    const spaced = await world.store.countInstances({ ...EVERYTHING, namespace: 'returns' }, 100);
    expect(spaced).toMatchObject({ scheduled: 1, failed: 0 });
    expect(await world.store.countInstances({ ...EVERYTHING, sequenceId: nextId() }, 100)).toMatchObject({
      scheduled: 0,
    });
  });
}
