import { expect, it } from 'vitest';
import type { ListTasksQuery } from '../../src/ports/store/reads.ts';
import { TENANT, nextId, task, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { pollRequest, useWorld } from './world.ts';

export function describeTaskReads(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const queryOf = (overrides: Partial<ListTasksQuery> = {}): ListTasksQuery => ({
    tenantId: null,
    states: [],
    handlerName: null,
    workerId: null,
    queueName: null,
    limit: 50,
    offset: 0,
    ...overrides,
  });
  const idsOf = async (overrides: Partial<ListTasksQuery> = {}): Promise<readonly string[]> =>
    (await world.store.listTasks(queryOf(overrides))).map(({ id }) => id);

  /** Three tasks: pending in queue eu, claimed, and pending of another handler; oldest first. */
  async function three() {
    const claim = await world.claim(await world.start());
    const [first, second, third] = [
      task({ blockId: 'a', queueName: 'eu' }),
      task({ blockId: 'b', queueName: 'us' }),
      task({ blockId: 'c', handlerName: 'label_print' }),
    ];
    await world.apply(turnOf(claim, { tasksCreated: [first] }));
    await world.advance(1);
    await world.apply(turnOf(claim, { rev: 1, tasksCreated: [second] }));
    await world.advance(1);
    await world.apply(turnOf(claim, { rev: 2, tasksCreated: [third] }));
    await world.store.pollTasks(pollRequest({ queueName: 'us' }));
    return { first: first.id, second: second.id, third: third.id };
  }

  it('tasks are listed newest first and filtered by every member of the query', async () => {
    const { first, second, third } = await three();
    expect(await idsOf()).toEqual([third, second, first]);
    expect(await idsOf({ limit: 1, offset: 1 })).toEqual([second]);
    expect(await idsOf({ states: ['pending'] })).toEqual([third, first]);
    expect(await idsOf({ states: ['claimed', 'completed'] })).toEqual([second]);
    expect(await idsOf({ handlerName: 'label_print' })).toEqual([third]);
    expect(await idsOf({ workerId: 'w-lisbon-2' })).toEqual([second]);
    expect(await idsOf({ queueName: 'eu' })).toEqual([first]);
    expect(await idsOf({ tenantId: TENANT })).toEqual([third, second, first]);
    expect(await idsOf({ tenantId: 'other' })).toEqual([]);
  });

  it('a task is read by its tenant only', async () => {
    const { first } = await three();
    expect((await world.store.getTask(TENANT, first))?.id).toBe(first);
    expect(await world.store.getTask('other', first)).toBeNull();
    expect(await world.store.getTask(null, nextId())).toBeNull();
  });

  it('events are listed oldest first, up to the limit', async () => {
    const { second } = await three();
    await world.advance(60_000);
    await world.store.releaseSilentTasks(60_000, 10);
    const events = await world.store.listTaskEvents(TENANT, second, 10);
    expect(events?.map(({ event }) => event)).toEqual(['claimed', 'reclaimed']);
    expect(await world.store.listTaskEvents(TENANT, second, 1)).toEqual(events?.slice(0, 1));
    expect(await world.store.listTaskEvents('other', second, 10)).toBeNull();
    expect(await world.store.listTaskEvents(null, nextId(), 10)).toBeNull();
  });

  it('the statistics count by state and handler, and name the workers with claimed tasks', async () => {
    await three();
    expect(await world.store.taskStats(TENANT)).toEqual({
      byState: { pending: 2, claimed: 1 },
      byHandler: { parcel_lookup: { pending: 1, claimed: 1 }, label_print: { pending: 1 } },
      activeWorkers: ['w-lisbon-2'],
    });
    expect(await world.store.taskStats('other')).toEqual({ byState: {}, byHandler: {}, activeWorkers: [] });
  });

  it('every poll is recorded, also one that gets nothing', async () => {
    await world.store.pollTasks(pollRequest({ version: '1.9.4' }));
    await world.advance(10);
    await world.store.pollTasks(
      pollRequest({ handlerName: 'label_print', queueName: 'eu', version: '1.10.0' }),
    );
    await world.store.pollTasks(pollRequest({ workerId: 'w-porto-1', tenantId: null }));
    const lastSeenAt = await world.now();
    await world.advance(10);
    expect(await world.store.listWorkers(TENANT, 60_000, false)).toEqual([
      {
        workerId: 'w-lisbon-2',
        handlers: ['label_print', 'parcel_lookup'],
        queues: ['eu'],
        version: '1.10.0',
        lastSeenAt,
        alive: true,
        inFlight: 0,
      },
      {
        workerId: 'w-porto-1',
        handlers: ['parcel_lookup'],
        queues: [],
        version: null,
        lastSeenAt,
        alive: true,
        inFlight: 0,
      },
    ]);
  });

  it('a tenant does not see the workers of others', async () => {
    await world.store.pollTasks(pollRequest({ tenantId: 'other' }));
    expect(await world.store.listWorkers(TENANT, 60_000, true)).toEqual([]);
    expect(await world.store.listWorkers(null, 60_000, true)).toHaveLength(1);
  });

  it('stale workers are shown only when asked for, last seen first', async () => {
    await three();
    await world.advance(60_001);
    await world.store.pollTasks(pollRequest({ workerId: 'w-porto-1', handlerName: 'other' }));
    const namesOf = async (includeStale: boolean): Promise<readonly (readonly unknown[])[]> =>
      (await world.store.listWorkers(null, 60_000, includeStale)).map((worker) => [
        worker.workerId,
        worker.alive,
        worker.inFlight,
      ]);
    expect(await namesOf(false)).toEqual([['w-porto-1', true, 0]]);
    expect(await namesOf(true)).toEqual([
      ['w-porto-1', true, 0],
      ['w-lisbon-2', false, 1],
    ]);
    const page = await world.store.listWorkers(null, 60_000, true, { offset: 1, limit: 1 });
    expect(page.map(({ workerId }) => workerId)).toEqual(['w-lisbon-2']);
  });

  it('a handler has a worker when one polled for it lately (RULINGS B8)', async () => {
    expect(await world.store.hasWorkerFor('parcel_lookup', 120_000)).toBe(false);
    await world.store.pollTasks(pollRequest());
    await world.advance(119_000);
    await world.store.pollTasks(pollRequest({ handlerName: 'label_print' }));
    expect(await world.store.hasWorkerFor('parcel_lookup', 120_000)).toBe(true);
    await world.advance(2_000);
    expect(await world.store.hasWorkerFor('parcel_lookup', 120_000)).toBe(false);
    expect(await world.store.hasWorkerFor('label_print', 120_000)).toBe(true);
  });
}
