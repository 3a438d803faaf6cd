import { describe, expect, it } from 'vitest';
import type { ListInstancesQuery } from '../../src/ports/store/instance-lists.ts';
import { TENANT, newInstance } from '../support/turn-builder.ts';
import { request } from './acts.ts';
import { type Scene, setScene } from './large-scene.ts';
import { FILL, FILLED_SEQUENCE_ID, SCHEDULE_ID } from './large-tables.ts';
import { planOfList } from './list-plans.ts';
import { FILL_BEYOND, operationsBeyond } from './operations-beyond.ts';
import { FILL_ADMIN, operationsOfAdmin } from './operations-of-admin.ts';
import { operationsOfChanges } from './operations-of-changes.ts';
import { operationsOfHistory, readsOfHistory } from './operations-of-history.ts';
import { FILL_INSPECTION, operationsOfWakes, readsOfInspection } from './operations-of-inspection.ts';
import { fillItems, operationsOfItems } from './operations-of-items.ts';
import { operationsOfTurns } from './operations-of-turns.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';
import { type Cost, costOf, tooDear } from './touched-rows.ts';

/** One call of every operation that runs while workflows run. */
function operations(scene: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  const { store, held, batch } = scene;
  return [
    ...operationsOfTurns(scene),
    ...operationsOfChanges(scene),
    ...operationsOfHistory(scene),
    ...operationsBeyond(store, held, batch[0] ?? held),
    ...operationsOfItems(store, batch[9] ?? held),
    ...operationsOfAdmin(store, held),
    ...operationsOfWakes(store, held),
  ];
}

/** Reads of the API. They are planned anew each time, with the statistics of the hour. */
function reads(scene: Scene): readonly (readonly [string, () => Promise<unknown>])[] {
  const { store, held } = scene;
  return [
    ...readsOfHistory(scene),
    ...readsOfInspection(store, held),
    ['an instance', () => store.getInstance(TENANT, held.instanceId)],
    [
      'the oldest instances that fit',
      () =>
        store.findInstances(
          { tenantId: 'big-1', namespace: null, sequenceId: null, states: ['scheduled'], metadata: [] },
          50,
        ),
    ],
    ['a page of events', () => store.listEvents({ tenantId: TENANT, status: null, limit: 20 })],
    ['a schedule', () => store.getSchedule(null, SCHEDULE_ID)],
    ['a page of schedules', () => store.listSchedules({ tenantId: 'big', limit: 20, offset: 0 })],
    ['a session by its key', () => store.findSession('big', '4711')],
    ['the children of an instance', () => store.listChildren(TENANT, held.instanceId)],
    ['a frontier', () => store.getFrontier(TENANT, held.instanceId)],
    [
      'the outputs of an instance',
      () => store.listOutputs(TENANT, held.instanceId, { node: true, retry: true }),
    ],
    ['the node rows of an instance', () => store.listNodeRows(TENANT, held.instanceId)],
    ['the journal of an instance', () => store.listJournal(TENANT, held.instanceId, 50)],
    ['the outbox', () => store.listWebhookOutbox(TENANT, 'parked', 50)],
    ['the audit rows of an instance', () => store.listAudit(TENANT, held.instanceId, 50)],
    [
      'the open gates',
      () =>
        store.listOpenGates({
          tenantId: null,
          namespace: null,
          instanceId: null,
          sequenceId: null,
          limit: 10,
          offset: 0,
        }),
    ],
  ];
}

describe('operations on large tables', () => {
  const sessions = useSessions(MIGRATED);

  it('touch a bounded number of rows, with plans made when the tables were empty', {
    timeout: 240_000,
  }, async () => {
    const session = await sessions.open();
    const scene = await setScene(session.store);
    const acts = operations(scene);
    // Seven rounds: from the sixth call on the server keeps a plan.
    for (let round = 0; round < 7; round += 1) {
      for (const [, act] of acts) await costOf(session, act);
    }
    await session.rows(FILL);
    await session.rows(FILL_BEYOND);
    await session.rows(FILL_ADMIN);
    await session.rows(FILL_INSPECTION);
    await session.rows(fillItems(scene.batch[9] ?? scene.held));
    const costs = new Map<string, Cost>();
    for (const [name, act] of acts) costs.set(name, await costOf(session, act));
    await session.rows('ANALYZE');
    expect(tooDear(costs)).toEqual([]);
  });

  it('touch a bounded number of rows, with fresh plans and statistics', async () => {
    const session = await sessions.open();
    const scene = await setScene(session.store);
    const costs = new Map<string, Cost>();
    // As the API reads: the database counts the bytes of what it finds.
    const bounded = reads({ ...scene, store: scene.store.withinBytes(1_000_000) });
    for (const [name, act] of [...operations(scene), ...reads(scene)]) {
      costs.set(name, await costOf(session, act));
    }
    for (const [name, act] of bounded) costs.set(`${name}, bounded`, await costOf(session, act));
    expect(tooDear(costs)).toEqual([]);
  });

  it('find a page of instances without reading the others', async () => {
    const session = await sessions.open();
    const list = { namespace: null, sequenceId: null, states: [], metadata: [], limit: 20, offset: 0 };
    for (const tenantId of ['big-1', null]) {
      const { scanned, fetched } = await costOf(session, () =>
        session.store.listInstances({ ...list, tenantId }),
      );
      expect(scanned).toBe(0);
      // 20 per tenant and state at most, and those of the page once more.
      expect(fetched).toBeLessThanOrEqual(1_200);
    }
    const metadata = [['n', '4711']] as const;
    const { scanned } = await costOf(session, async () => {
      expect(await session.store.listInstances({ ...list, tenantId: 'big-1', metadata })).toHaveLength(1);
    });
    expect(scanned).toBe(0);
  });

  it('list and count instances without sorting or scanning the backlog, whatever the filter (dashboard.md A3)', async () => {
    const session = await sessions.open();
    const page = { namespace: null, sequenceId: null, states: [], metadata: [], limit: 20, offset: 0 };
    const place = { at: Date.parse('2100-01-01T00:00:00Z'), id: 'ffffffff-ffff-7fff-8fff-ffffffffffff' };
    const filters: readonly Partial<ListInstancesQuery>[] = [
      {},
      { after: place },
      { states: ['completed'] },
      { states: ['completed'], rootOnly: true, after: place },
      { sequenceId: FILLED_SEQUENCE_ID },
      { sequenceId: FILLED_SEQUENCE_ID, states: ['scheduled'], after: place },
      { concurrencyKey: 'key-8' },
      { idempotencyKey: 'nobody' },
      {
        idRange: { from: '11112222-0000-0000-0000-000000000000', to: '11112222-ffff-ffff-ffff-ffffffffffff' },
      },
      { createdAfter: 0, createdBefore: place.at },
      { createdBefore: 1_000 },
      { metadata: [['n', '4711']] },
    ];
    const broken: string[] = [];
    const expectAtMost = (count: number, bound: number, what: string): void => {
      if (count > bound) broken.push(`${count} ${what}`);
    };
    for (const filter of filters) {
      for (const order of ['updated', 'created'] as const) {
        const query = { ...page, tenantId: 'big-1', order, ...filter };
        const said = JSON.stringify(query);
        const narrow =
          order === 'created' ? (filter.sequenceId ?? filter.concurrencyKey) : filter.createdBefore;
        // A page of each range at most, or a narrow range that is small enough to be sorted.
        const bound = narrow === undefined ? 14 * 20 : 10_000;
        const { scanned, fetched } = await costOf(session, () => session.store.listInstances(query));
        expectAtMost(scanned, 0, `scanned by ${said}`);
        expectAtMost(fetched, 2 * bound, `fetched by ${said}`);
        const paged = await costOf(session, () => session.store.pageInstances(query, 1_000_000));
        expectAtMost(paged.scanned, 0, `scanned by the page of ${said}`);
        expectAtMost(paged.fetched, 2 * bound, `fetched by the page of ${said}`);
        // The metadata has become ids before the statement is made.
        if (filter.metadata !== undefined) continue;
        const facts = await planOfList(session, query);
        expectAtMost(facts.scannedWhole.length, 0, `scans of ${said}`);
        expectAtMost(facts.sorted, bound, `sorted by ${said}`);
      }
      const facts = await planOfList(session, { ...page, tenantId: 'big-1', ...filter }, 'count');
      expectAtMost(facts.scannedWhole.length, 0, `scans of the count of ${JSON.stringify(filter)}`);
      expectAtMost(facts.sorted, 10_000, `sorted by the count of ${JSON.stringify(filter)}`);
    }
    expect(broken).toEqual([]);
  });

  it('list and count instances by metadata that more have than are looked up', async () => {
    const session = await sessions.open();
    const metadata = [['cron_schedule_id', SCHEDULE_ID]] as const;
    const query = { namespace: null, sequenceId: null, states: [], metadata, limit: 20, offset: 0 };
    for (const tenantId of ['big-1', null]) {
      for (const order of ['updated', 'created'] as const) {
        const rows = await session.store.listInstances({ ...query, tenantId, order });
        expect(rows.map(({ tenantId: owner, state }) => `${owner} ${state}`)).toEqual(
          Array.from({ length: 20 }, () => 'big-1 completed'),
        );
      }
      const counts = await session.store.countInstances({ ...query, tenantId }, 10_000);
      expect(counts).toMatchObject({ completed: 2_500, scheduled: 0 });
    }
    const found = await session.store.findInstances({ ...query, tenantId: 'big-1' }, 30);
    expect(found).toHaveLength(30);
  });

  it('give the same pages of instances whichever way they find them', async () => {
    const session = await sessions.open();
    const base = {
      tenantId: 'big-1',
      namespace: null,
      sequenceId: null,
      states: [],
      metadata: [],
      offset: 0,
    };
    const idsOf = async (query: Partial<ListInstancesQuery>): Promise<readonly string[]> =>
      (await session.store.listInstances({ ...base, limit: 30, ...query })).map(({ id }) => id);
    // All of them, of which one state is sorted and the other walked.
    const everything = [
      { sequenceId: FILLED_SEQUENCE_ID },
      { createdAfter: 0, createdBefore: 4_102_444_800_000 },
    ];
    for (const order of ['updated', 'created'] as const) {
      const plain = await idsOf({ order });
      const tenth = await session.store.listInstances({ ...base, order, limit: 1, offset: 9 });
      const [last] = tenth;
      const after = {
        at: (order === 'created' ? last?.createdAt : last?.updatedAt) ?? 0,
        id: last?.id ?? '',
      };
      for (const filter of everything) {
        expect(await idsOf({ order, ...filter })).toEqual(plain);
        expect(await idsOf({ order, ...filter, limit: 20, after })).toEqual(plain.slice(10));
        expect(await idsOf({ order, ...filter, limit: 20, offset: 10 })).toEqual(plain.slice(10));
      }
    }
  });

  it('give each tenant its share of a claim, whatever the backlog of the others (RULINGS A30)', async () => {
    const session = await sessions.open();
    for (let index = 0; index < 3; index += 1)
      await session.store.start({
        instances: [newInstance({ tenantId: 'small', priority: 2 })],
        onKnownKey: 'first',
      });
    const { fetched } = await costOf(session, async () => {
      const { claims } = await session.store.claimDue(request(30));
      expect(claims.filter(({ tenantId }) => tenantId === 'small')).toHaveLength(3);
    });
    expect(fetched).toBeLessThanOrEqual(400);
  });
});
