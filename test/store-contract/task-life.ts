import { expect, it } from 'vitest';
import { auditEntry, frame, settleAs, task, turnOf, waitingLeaf, write } from '../support/turn-builder.ts';
import { ENDED_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { beatOf, eventsOf, reportOf } from './task-requests.ts';
import { expectRejected, pollRequest, useWorld } from './world.ts';

export function describeTaskLife(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a new task is pending and has what it was given [WRK-8]', async () => {
    const claim = await world.claim(await world.start());
    const given = task({ queueName: 'eu', timeoutMs: 20_000, attempt: 2, iteration: 'l:1' });
    await world.apply(turnOf(claim, { tasksCreated: [given] }));
    expect(await world.store.getTask(null, given.id)).toEqual({
      id: given.id,
      tenantId: claim.tenantId,
      namespace: 'fulfilment',
      instanceId: claim.instanceId,
      blockId: given.blockId,
      iteration: 'l:1',
      handlerName: given.handlerName,
      queueName: 'eu',
      params: given.params,
      context: given.context,
      attempt: 2,
      timeoutMs: 20_000,
      state: 'pending',
      workerId: null,
      claimedAt: null,
      heartbeatAt: null,
      claimEpoch: 0,
      resumeCheckpoint: null,
      checkpointSeq: 0,
      redelivery: false,
      idempotencyKey: given.idempotencyKey,
      completedAt: null,
      output: null,
      errorMessage: null,
      errorRetryable: null,
      createdAt: await world.now(),
    });
  });

  for (const event of ['cancelled', 'timed_out'] as const) {
    it(`a commit closes a claimed task as ${event}; a late report is stale [CAN-1] [WRK-6]`, async () => {
      const { id, task: claimed } = await world.claimedTask();
      const claim = await world.operate(id);
      await world.apply(turnOf(claim, { tasksClosed: [{ taskId: claimed.id, event }] }));
      expect((await world.frontier(id)).openTasks).toEqual([]);
      expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
      expect((await eventsOf(world.store, claimed.id)).map(([name]) => name)).toEqual([
        'claimed',
        event,
        'stale_mutation_rejected',
      ]);
      const closed = await world.store.getTask(null, claimed.id);
      const shown = closed === null ? null : [closed.state, closed.errorRetryable, closed.completedAt];
      // A cancelled task is known from its events only.
      expect(shown).toEqual(event === 'cancelled' ? null : ['failed', true, await world.now()]);
    });
  }

  it('a pending task that is closed is given to nobody', async () => {
    const { id, taskId } = await world.waitingForWorker();
    await world.apply(turnOf(await world.operate(id), { tasksClosed: [{ taskId, event: 'cancelled' }] }));
    expect(await world.store.pollTasks(pollRequest())).toEqual([]);
  });

  it('closing a task that a worker has just reported leaves the report alone (RULINGS A9)', async () => {
    const { id, task: claimed } = await world.claimedTask();
    const claim = await world.operate(id);
    await world.store.reportTask(reportOf(claimed));
    await world.apply(turnOf(claim, { tasksClosed: [{ taskId: claimed.id, event: 'cancelled' }] }));
    expect(await world.store.getTask(null, claimed.id)).toMatchObject({ state: 'completed' });
    expect((await world.frontier(id)).inbox).toHaveLength(1);
  });

  for (const state of ENDED_STATES) {
    it(`after the end as ${state} a report is stale and the task is in no list [INS-14] (RULINGS A12)`, async () => {
      const { id, task: claimed } = await world.claimedTask();
      const audit = [auditEntry('waiting', state)];
      await world.apply(turnOf(await world.operate(id), { audit, settle: settleAs(state) }));
      expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
      expect(await world.store.getTask(null, claimed.id)).toBeNull();
      expect((await world.frontier(id)).inbox).toEqual([]);
      expect((await world.view(id)).dueAt).toBeNull();
    });
  }

  it('a block has at most one open task (RULINGS B9)', async () => {
    const { id, taskId } = await world.waitingForWorker();
    const claim = await world.operate(id);
    await expectRejected(world.store.commit([turnOf(claim, { tasksCreated: [task()] })]));
    const next = task({ attempt: 1, previousTaskId: taskId });
    await world.apply(turnOf(claim, { tasksClosed: [{ taskId, event: 'timed_out' }], tasksCreated: [next] }));
    expect((await world.frontier(id)).openTasks.map((open) => open.id)).toEqual([next.id]);
  });

  it('a retry takes the last checkpoint over and begins at epoch 0 [WRK-8]', async () => {
    const { id, task: claimed } = await world.claimedTask();
    const checkpoint = { seq: 0, value: { row: 12 } };
    await world.store.heartbeatTask(beatOf(claimed, { checkpoint }));
    await world.store.reportTask(
      reportOf(claimed, { outcome: { ok: false, message: 'again', retryable: true } }),
    );
    const claim = await world.claim(id);
    const next = task({ attempt: 1, previousTaskId: claimed.id });
    await world.apply(
      turnOf(claim, {
        inboxDone: [{ seq: 1, disposition: 'applied' }],
        tasksCreated: [next],
        frames: [write(frame({ leaf: waitingLeaf('worker', { taskId: next.id }) }))],
        audit: [auditEntry('running', 'waiting')],
        settle: settleAs('waiting', { openWaits: 1 }),
      }),
    );
    expect(await world.store.pollTasks(pollRequest())).toMatchObject([
      {
        id: next.id,
        attempt: 1,
        claimEpoch: 1,
        redelivery: false,
        resumeCheckpoint: { row: 12 },
        checkpointSeq: 1,
      },
    ]);
  });

  it('a frame that waits for a task keeps the instance alive [RULINGS B7]', async () => {
    const { id } = await world.waitingForWorker();
    const frontier = await world.frontier(id);
    expect(frontier.openTasks).toHaveLength(1);
    expect(frontier.instance).toMatchObject({ state: 'waiting', dueAt: null, openWaits: 1 });
  });
}
