import { expect, it } from 'vitest';
import { settleAs, task, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { beatOf, eventsOf, reportOf } from './task-requests.ts';
import { pollRequest, useWorld } from './world.ts';

export function describeTaskClaims(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a poll claims a task under epoch 1 and writes one event [WRK-3]', async () => {
    const { id, taskId } = await world.waitingForWorker();
    await world.advance(3);
    const now = await world.now();
    const tasks = await world.store.pollTasks(pollRequest());
    expect(tasks).toMatchObject([
      {
        id: taskId,
        instanceId: id,
        state: 'claimed',
        workerId: 'w-lisbon-2',
        claimEpoch: 1,
        claimedAt: now,
        heartbeatAt: now,
        redelivery: false,
      },
    ]);
    expect(tasks).toEqual([await world.store.getTask(null, taskId)]);
    expect(await world.store.listTaskEvents(null, taskId, 10)).toMatchObject([
      { taskId, claimEpoch: 1, workerId: 'w-lisbon-2', event: 'claimed', createdAt: now },
    ]);
    // A claim changes nothing of the instance.
    expect(await world.view(id)).toMatchObject({ state: 'waiting', dueAt: null });
  });

  it('each task goes to one poll, oldest first, up to the limit [WRK-3]', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push((await world.waitingForWorker()).taskId);
      await world.advance(1);
    }
    const first = await world.store.pollTasks(pollRequest({ limit: 2 }));
    const second = await world.store.pollTasks(pollRequest({ limit: 2 }));
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(second.map(({ id }) => id)).toEqual(ids.slice(2));
    expect(await world.store.pollTasks(pollRequest())).toEqual([]);
  });

  it('a poll gives out what fits into one answer, and one task in any case', async () => {
    const text = (mib: number): string => '"'.repeat((mib * 2 ** 20) / 2);
    const sizes = [1, 1.5, 5, 0.5, 0.5];
    const ids: string[] = [];
    for (const size of sizes) {
      const claim = await world.claim(await world.start());
      const large = task({ params: { text: text(size / 2) }, context: { data: { text: text(size / 2) } } });
      const settle = settleAs('waiting', { openWaits: 1 });
      await world.apply(turnOf(claim, { tasksCreated: [large], settle }));
      ids.push(large.id);
      await world.advance(1);
    }
    const given: string[][] = [];
    for (let polls = 0; polls < 5; polls += 1) {
      given.push((await world.store.pollTasks(pollRequest({ limit: 10 }))).map(({ id }) => id));
    }
    expect(given).toEqual([ids.slice(0, 1), ids.slice(1, 2), ids.slice(2, 3), ids.slice(3), []]);
  });

  it('two polls at the same moment never get the same task [WRK-3]', async () => {
    for (let index = 0; index < 4; index += 1) await world.waitingForWorker();
    const polls = await Promise.all(
      ['a', 'b', 'c'].map((workerId) => world.store.pollTasks(pollRequest({ workerId, limit: 3 }))),
    );
    const given = polls.flat().map(({ id }) => id);
    expect(new Set(given).size).toBe(given.length);
  });

  it('a poll gets only tasks of its handler, its queue if it names one, and its tenant [WRK-1] [WRK-2] [WRK-4]', async () => {
    const claim = await world.claim(await world.start());
    const [plain, european] = [task({ blockId: 'a' }), task({ blockId: 'b', queueName: 'eu' })];
    await world.apply(turnOf(claim, { tasksCreated: [plain, european] }));
    const idsOf = async (overrides: Parameters<typeof pollRequest>[0]): Promise<readonly string[]> =>
      (await world.store.pollTasks(pollRequest(overrides))).map(({ id }) => id);
    expect(await idsOf({ handlerName: 'other' })).toEqual([]);
    expect(await idsOf({ tenantId: 'other' })).toEqual([]);
    expect(await idsOf({ queueName: 'us' })).toEqual([]);
    expect(await idsOf({ queueName: 'eu' })).toEqual([european.id]);
    expect(await idsOf({ tenantId: null })).toEqual([plain.id]);
  });

  it('a plain poll gets tasks whatever their queue is [WRK-1]', async () => {
    const claim = await world.claim(await world.start());
    const european = task({ queueName: 'eu' });
    await world.apply(turnOf(claim, { tasksCreated: [european] }));
    expect((await world.store.pollTasks(pollRequest())).map(({ id }) => id)).toEqual([european.id]);
  });

  it('tasks of a paused instance are not given out until it goes on [WRK-8]', async () => {
    const { id, taskId } = await world.waitingForWorker();
    await world.apply(turnOf(await world.operate(id), { settle: settleAs('paused', { openWaits: 1 }) }));
    expect(await world.store.pollTasks(pollRequest())).toEqual([]);
    const settle = settleAs('waiting', { openWaits: 1 });
    await world.apply(turnOf(await world.operate(id), { settle }));
    expect((await world.store.pollTasks(pollRequest())).map((given) => given.id)).toEqual([taskId]);
  });

  it('a silent task goes back in the same row and comes again as a redelivery [WRK-10]', async () => {
    const { task: claimed } = await world.claimedTask();
    await world.store.heartbeatTask(beatOf(claimed, { checkpoint: { seq: 0, value: 'half' } }));
    await world.advance(59_999);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(0);
    await world.advance(1);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(1);
    expect(await world.store.getTask(null, claimed.id)).toMatchObject({
      state: 'pending',
      workerId: null,
      claimedAt: null,
      heartbeatAt: null,
      claimEpoch: 1,
      attempt: 0,
    });
    expect(await world.store.pollTasks(pollRequest({ workerId: 'w-porto-1' }))).toMatchObject([
      {
        id: claimed.id,
        claimEpoch: 2,
        redelivery: true,
        resumeCheckpoint: 'half',
        checkpointSeq: 1,
        attempt: 0,
      },
    ]);
    expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
    expect(await eventsOf(world.store, claimed.id)).toEqual([
      ['claimed', 1, 'w-lisbon-2'],
      ['reclaimed', 1, 'w-lisbon-2'],
      ['claimed', 2, 'w-porto-1'],
      ['stale_mutation_rejected', 1, 'w-lisbon-2'],
    ]);
  });

  it('silent tasks go back oldest first, up to the limit; one that beats stays', async () => {
    const first = (await world.claimedTask()).task;
    const second = (await world.claimedTask()).task;
    const third = (await world.claimedTask()).task;
    await world.advance(1);
    await world.store.heartbeatTask(beatOf(first));
    await world.advance(59_999);
    expect(await world.store.releaseSilentTasks(60_000, 1)).toBe(1);
    expect((await world.store.getTask(null, second.id))?.state).toBe('pending');
    expect((await world.store.getTask(null, third.id))?.state).toBe('claimed');
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(1);
    expect((await world.store.getTask(null, first.id))?.state).toBe('claimed');
  });

  it('a silent task that must not be done twice is closed, and its run is told so [CON-6] (RULINGS A20)', async () => {
    const { id, task: claimed } = await world.claimedTask({ atMostOnce: true });
    await world.advance(59_999);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(0);
    await world.advance(1);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(1);
    expect(await world.store.pollTasks(pollRequest({ workerId: 'w-porto-1' }))).toEqual([]);
    const now = await world.now();
    expect(await world.store.getTask(null, claimed.id)).toMatchObject({
      ...{ state: 'failed', completedAt: now, errorMessage: 'the worker fell silent', errorRetryable: false },
    });
    const { instance, inbox } = await world.frontier(id);
    expect(instance).toMatchObject({ state: 'scheduled', dueAt: now });
    expect(inbox.map(({ fact }) => fact)).toMatchObject([
      { kind: 'task', taskId: claimed.id, blockId: claimed.blockId, outcome: { ok: false, silent: true } },
    ]);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(0);
    // What the worker says later is stale, and whether it beats or reports makes no difference ([WRK-6]).
    expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
    expect(await world.store.heartbeatTask(beatOf(claimed))).toEqual({ status: 'stale' });
    expect((await world.frontier(id)).inbox).toHaveLength(1);
    expect(await eventsOf(world.store, claimed.id)).toEqual([
      ['claimed', 1, 'w-lisbon-2'],
      ['failed', 1, 'w-lisbon-2'],
      ['stale_mutation_rejected', 1, 'w-lisbon-2'],
      ['stale_mutation_rejected', 1, 'w-lisbon-2'],
    ]);
  });

  it('of both kinds of silent tasks each look takes up to the limit [CON-6] [WRK-10]', async () => {
    const once = [
      await world.claimedTask({ atMostOnce: true }),
      await world.claimedTask({ atMostOnce: true }),
    ];
    const again = [await world.claimedTask(), await world.claimedTask()];
    await world.advance(60_000);
    expect(await world.store.releaseSilentTasks(60_000, 1)).toBe(2);
    expect(await world.store.releaseSilentTasks(60_000, 1)).toBe(2);
    const statesOf = async (given: typeof once): Promise<unknown> =>
      Promise.all(given.map(async ({ task: { id } }) => (await world.store.getTask(null, id))?.state));
    expect([await statesOf(once), await statesOf(again)]).toEqual([
      ['failed', 'failed'],
      ['pending', 'pending'],
    ]);
  });

  it('a task that must not be done twice and is not claimed yet waits for a worker however long [CON-6]', async () => {
    const { taskId } = await world.waitingForWorker({}, { atMostOnce: true });
    await world.advance(600_000);
    expect(await world.store.releaseSilentTasks(60_000, 10)).toBe(0);
    expect((await world.store.pollTasks(pollRequest())).map((given) => given.id)).toEqual([taskId]);
  });
}
