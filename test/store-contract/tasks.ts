import { expect, it } from 'vitest';
import type { HeartbeatRequest, ReportTaskRequest, WorkerTask } from '../../src/ports/store/accept.ts';
import {
  auditEntry,
  frame,
  nextId,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { ENDED_STATES, pollRequest, useWorld } from './world.ts';

export function describeTasks(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  const reportOf = (claimed: WorkerTask, overrides: Partial<ReportTaskRequest> = {}): ReportTaskRequest => ({
    tenantId: null,
    taskId: claimed.id,
    workerId: claimed.workerId ?? '',
    claimEpoch: claimed.claimEpoch,
    factId: nextId(),
    outcome: { ok: true, output: { found: true } },
    logs: [],
    ...overrides,
  });
  const beatOf = (claimed: WorkerTask, overrides: Partial<HeartbeatRequest> = {}): HeartbeatRequest => ({
    tenantId: null,
    taskId: claimed.id,
    workerId: claimed.workerId ?? '',
    claimEpoch: claimed.claimEpoch,
    ...overrides,
  });
  const eventsOf = async (taskId: string): Promise<readonly (readonly unknown[])[]> =>
    ((await world.store.listTaskEvents(null, taskId, 100)) ?? []).map((event) => [
      event.event,
      event.claimEpoch,
      event.workerId,
    ]);

  it('a new task is pending and has what it was given [WRK-8]', async () => {
    const claim = await world.claim(await world.start());
    const given = task({ queueName: 'eu', timeoutMs: 20_000, attempt: 2, iteration: 'l:1' });
    await world.apply(turnOf(claim, { tasksCreated: [given] }));
    expect(await world.store.getTask(null, given.id)).toEqual({
      id: given.id,
      tenantId: claim.tenantId,
      instanceId: claim.instanceId,
      blockId: given.blockId,
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

  it('a completed report closes the task and is in the inbox of its instance [WRK-5] [WRK-7]', async () => {
    const { id, task: claimed } = await world.claimedTask();
    await world.advance(8);
    const report = reportOf(claimed);
    expect(await world.store.reportTask(report)).toEqual({
      status: 'accepted',
      tenantId: claimed.tenantId,
      instanceId: id,
    });
    const now = await world.now();
    expect(await world.store.getTask(null, claimed.id)).toEqual({
      ...claimed,
      state: 'completed',
      completedAt: now,
      output: { found: true },
    });
    expect((await world.frontier(id)).inbox).toEqual([
      {
        seq: 1,
        id: report.factId,
        acceptedAt: now,
        fact: { kind: 'task', taskId: claimed.id, blockId: 'lookup', outcome: report.outcome },
      },
    ]);
    expect(await eventsOf(claimed.id)).toEqual([
      ['claimed', 1, 'w-lisbon-2'],
      ['completed', 1, 'w-lisbon-2'],
    ]);
  });

  it('a failed report keeps message, code and details [WRK-5]', async () => {
    const { id, task: claimed } = await world.claimedTask();
    const outcome = {
      ok: false as const,
      message: 'no answer',
      retryable: true,
      code: 'DOWN',
      details: { n: 1 },
    };
    await world.store.reportTask(reportOf(claimed, { outcome }));
    expect(await world.store.getTask(null, claimed.id)).toMatchObject({
      state: 'failed',
      output: null,
      errorMessage: 'no answer',
      errorRetryable: true,
    });
    expect((await world.frontier(id)).inbox[0]?.fact).toMatchObject({ kind: 'task', outcome });
    expect((await eventsOf(claimed.id)).at(-1)).toEqual(['failed', 1, 'w-lisbon-2']);
  });

  it('log lines of a report are listed with the instance', async () => {
    const { id, task: claimed } = await world.claimedTask();
    const logs = [
      { ts: '2027-02-11T08:00:00.250Z', level: 'warn', message: 'slow' },
      { ts: '2027-02-11T08:00:00.100Z', level: 'error', message: 'first' },
    ];
    await world.store.reportTask(reportOf(claimed, { logs }));
    expect(await world.store.listLogs(null, id, 10)).toEqual([
      { blockId: 'lookup', at: 1_802_332_800_100, level: 'error', message: 'first' },
      { blockId: 'lookup', at: 1_802_332_800_250, level: 'warn', message: 'slow' },
    ]);
  });

  const strange = {
    'another worker': { workerId: 'w-porto-1' },
    'an old epoch': { claimEpoch: 0 },
    'an epoch of the future': { claimEpoch: 2 },
  };
  for (const [name, difference] of Object.entries(strange)) {
    it(`a report from ${name} is stale, leaves one event and changes nothing [WRK-6]`, async () => {
      const { id, task: claimed } = await world.claimedTask();
      const before = await world.frontier(id);
      expect(await world.store.reportTask(reportOf(claimed, difference))).toEqual({ status: 'stale' });
      expect(await world.store.heartbeatTask(beatOf(claimed, difference))).toEqual({ status: 'stale' });
      expect(await world.frontier(id)).toEqual(before);
      expect((await eventsOf(claimed.id)).map(([event]) => event)).toEqual([
        'claimed',
        'stale_mutation_rejected',
        'stale_mutation_rejected',
      ]);
    });
  }

  it('a report to a pending task is stale [WRK-6]', async () => {
    const { taskId } = await world.waitingForWorker();
    const pending = await world.store.getTask(null, taskId);
    if (pending === null) throw new Error('The task is pending.');
    expect(await world.store.reportTask(reportOf(pending))).toEqual({ status: 'stale' });
  });

  it('a second report to a closed task is stale, with another fact (RULINGS B9)', async () => {
    const { id, task: claimed } = await world.claimedTask();
    await world.store.reportTask(reportOf(claimed));
    expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
    expect(await world.store.heartbeatTask(beatOf(claimed))).toEqual({ status: 'stale' });
    expect((await world.frontier(id)).inbox).toHaveLength(1);
  });

  it('a report sent again with its fact id is accepted once (RULINGS A36)', async () => {
    const { id, task: claimed } = await world.claimedTask();
    const report = reportOf(claimed);
    const first = await world.store.reportTask(report);
    expect(await world.store.reportTask(report)).toEqual(first);
    expect((await world.frontier(id)).inbox).toHaveLength(1);
    expect(await eventsOf(claimed.id)).toHaveLength(2);
  });

  it('an unknown task, or one of another tenant, is not found [WRK-6]', async () => {
    const { task: claimed } = await world.claimedTask();
    expect(await world.store.reportTask(reportOf(claimed, { taskId: nextId() }))).toEqual({
      status: 'not_found',
    });
    expect(await world.store.reportTask(reportOf(claimed, { tenantId: 'other' }))).toEqual({
      status: 'not_found',
    });
    expect(await world.store.heartbeatTask(beatOf(claimed, { tenantId: 'other' }))).toEqual({
      status: 'not_found',
    });
  });

  for (const event of ['cancelled', 'timed_out'] as const) {
    it(`a commit closes a claimed task as ${event}; a late report is stale [CAN-1] [WRK-6]`, async () => {
      const { id, task: claimed } = await world.claimedTask();
      const claim = await world.operate(id);
      await world.apply(turnOf(claim, { tasksClosed: [{ taskId: claimed.id, event }] }));
      expect((await world.frontier(id)).openTasks).toEqual([]);
      expect(await world.store.reportTask(reportOf(claimed))).toEqual({ status: 'stale' });
      expect((await eventsOf(claimed.id)).map(([name]) => name)).toEqual([
        'claimed',
        event,
        'stale_mutation_rejected',
      ]);
      const listed = await world.store.getTask(null, claimed.id);
      if (event === 'cancelled') expect(listed).toBeNull();
      else
        expect(listed).toMatchObject({
          state: 'failed',
          errorRetryable: true,
          completedAt: await world.now(),
        });
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
    await expect(world.store.commit([turnOf(claim, { tasksCreated: [task()] })])).rejects.toThrow();
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

  it('a heartbeat moves heartbeat_at and answers the next checkpoint number [WRK-12]', async () => {
    const { task: claimed } = await world.claimedTask();
    await world.advance(9);
    expect(await world.store.heartbeatTask(beatOf(claimed))).toEqual({
      status: 'ok',
      checkpointSeq: 0,
      cancelled: false,
    });
    expect(await world.store.getTask(null, claimed.id)).toEqual({
      ...claimed,
      heartbeatAt: await world.now(),
    });
  });

  it('a checkpoint is stored only under the expected number [WRK-11]', async () => {
    const { task: claimed } = await world.claimedTask();
    const beat = (seq: number, value: number): Promise<unknown> =>
      world.store.heartbeatTask(beatOf(claimed, { checkpoint: { seq, value } }));
    expect(await beat(1, 1)).toEqual({ status: 'stale_checkpoint' });
    expect(await beat(0, 2)).toEqual({ status: 'ok', checkpointSeq: 1, cancelled: false });
    expect(await beat(0, 3)).toEqual({ status: 'stale_checkpoint' });
    expect(await beat(1, 4)).toMatchObject({ checkpointSeq: 2 });
    expect(await world.store.getTask(null, claimed.id)).toMatchObject({
      resumeCheckpoint: 4,
      checkpointSeq: 2,
    });
  });

  it('a heartbeat tells the worker of a cancel [WRK-12]', async () => {
    const { id, task: claimed } = await world.claimedTask();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'cancel',
      payload: null,
    });
    expect(await world.store.heartbeatTask(beatOf(claimed))).toMatchObject({ status: 'ok', cancelled: true });
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
    expect(await eventsOf(claimed.id)).toEqual([
      ['claimed', 1, 'w-lisbon-2'],
      ['reclaimed', 1, 'w-lisbon-2'],
      ['claimed', 2, 'w-porto-1'],
      ['stale_mutation_rejected', 2, 'w-lisbon-2'],
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

  it('a frame that waits for a task keeps the instance alive [RULINGS B7]', async () => {
    const { id } = await world.waitingForWorker();
    const frontier = await world.frontier(id);
    expect(frontier.openTasks).toHaveLength(1);
    expect(frontier.instance).toMatchObject({ state: 'waiting', dueAt: null, openWaits: 1 });
  });
}
