import { expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { beatOf, eventsOf, reportOf } from './task-requests.ts';
import { useWorld } from './world.ts';

export function describeTaskReports(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

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
    expect(await eventsOf(world.store, claimed.id)).toEqual([
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
    expect((await eventsOf(world.store, claimed.id)).at(-1)).toEqual(['failed', 1, 'w-lisbon-2']);
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
      expect((await eventsOf(world.store, claimed.id)).map(([event]) => event)).toEqual([
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
    expect(await eventsOf(world.store, claimed.id)).toHaveLength(2);
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
}
