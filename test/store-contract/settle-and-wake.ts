import { expect, it } from 'vitest';
import {
  allDone,
  auditEntry,
  frame,
  nextId,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { ENDED_STATES, LIVE_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { dueRequest, expectRejected, pollRequest, useWorld } from './world.ts';

export function describeSettleAndWake(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const poke = (id: string, signalType = 'custom:poke'): Promise<unknown> =>
    world.store.signal({ tenantId: null, instanceId: id, signalId: nextId(), signalType, payload: null });

  for (const state of LIVE_STATES) {
    it(`a settle as ${state} stores state, due time and what it waits for (RULINGS A27)`, async () => {
      const claim = await world.claim(await world.start());
      const dueAt = (await world.now()) + 90_000;
      const settle = settleAs(state, { dueAt, nextFireAt: dueAt - 1, openWaits: 2 });
      await world.apply(turnOf(claim, { audit: [auditEntry('running', state)], settle }));
      expect(await world.view(claim.instanceId)).toMatchObject({
        state,
        dueAt,
        nextFireAt: dueAt - 1,
        openWaits: 2,
        leaseOwner: null,
        leaseUntil: null,
        epoch: 1,
        rev: 1,
      });
    });

    it(`a fact that came in during the turn makes a settle as ${state} due at once (RULINGS A5)`, async () => {
      const claim = await world.claim(await world.start());
      await world.advance(10);
      await poke(claim.instanceId);
      await world.advance(10);
      const later = (await world.now()) + 90_000;
      const settle = settleAs(state, { dueAt: later, nextFireAt: later, openWaits: 1 });
      await world.apply(turnOf(claim, { audit: [auditEntry('running', state)], settle }));
      const view = await world.view(claim.instanceId);
      // Display only: untouched by signals (RULINGS A26).
      expect(view).toMatchObject({ state, nextFireAt: later });
      expect(view.dueAt).toBeLessThanOrEqual(await world.now());
      const { claims } = await world.store.claimDue(dueRequest());
      expect(claims).toMatchObject([{ instanceId: claim.instanceId, inbox: [{ seq: 1 }] }]);
    });

    it(`a ${state} instance whose facts are consumed settles to its own due time again (RULINGS A5)`, async () => {
      const id = await world.inState(state);
      await poke(id);
      const claim = await world.claim(id);
      const dueAt = (await world.now()) + 90_000;
      const audit = claim.instance.state === state ? [] : [auditEntry(claim.instance.state, state)];
      const settle = settleAs(state, { dueAt, openWaits: 1 });
      await world.apply(turnOf(claim, { inboxDone: allDone(claim), audit, settle }));
      expect((await world.view(id)).dueAt).toBe(dueAt);
      // And once more: what was consumed stays consumed.
      await world.advance(90_000);
      const next = await world.claim(id);
      expect(next.inbox).toEqual([]);
      const again = settleAs(state, { dueAt: dueAt + 90_000, openWaits: 1 });
      await world.apply(turnOf(next, { settle: again }));
      expect((await world.view(id)).dueAt).toBe(dueAt + 90_000);
    });

    it(`a signal makes a ${state} instance due and leaves state and next_fire_at alone [SETTLE-3]`, async () => {
      const id = await world.inState(state);
      const before = await world.view(id);
      await world.advance(4);
      await poke(id);
      const view = await world.view(id);
      expect(view).toMatchObject({ state, nextFireAt: before.nextFireAt, epoch: before.epoch });
      expect(view.dueAt).toBe(Math.min(before.dueAt ?? Infinity, await world.now()));
      expect(await world.store.listAudit(null, id, 10)).toHaveLength(
        state === 'waiting' || state === 'paused' ? 1 : 0,
      );
    });
  }

  it('a wake never moves the due time later (RULINGS A4)', async () => {
    const id = await world.start();
    const { dueAt } = await world.view(id);
    await world.advance(1_000);
    await poke(id);
    expect((await world.view(id)).dueAt).toBe(dueAt);
  });

  const broken = {
    'scheduled without a due time': settleAs('scheduled'),
    'running without a wake': settleAs('running'),
    'waiting for nothing': settleAs('waiting'),
    'completed with a due time': settleAs('completed', { dueAt: 5 }),
    'failed with open waits': settleAs('failed', { openWaits: 1 }),
  };
  for (const [name, settle] of Object.entries(broken)) {
    it(`a settle that would leave an instance ${name} is rejected (RULINGS A27)`, async () => {
      const claim = await world.claim(await world.start());
      const turn = turnOf(claim, { audit: [auditEntry('running', settle.state)], settle });
      await expectRejected(world.store.commit([turn]));
      expect(await world.view(claim.instanceId)).toMatchObject({ state: 'running', rev: 0 });
    });
  }

  it('a worker result moves a waiting instance to scheduled at now, with one audit row [SETTLE-2]', async () => {
    const { id, task } = await world.claimedTask();
    await world.advance(6);
    await report(task.id);
    const now = await world.now();
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: now, dueAt: now });
    const audit = await world.store.listAudit(null, id, 10);
    expect(audit?.map(({ fromState, toState }) => [fromState, toState])).toEqual([
      ['waiting', 'scheduled'],
      ['running', 'waiting'],
    ]);
    expect(audit?.[0]).toMatchObject({ eventType: 'state_transition', createdAt: now });
  });

  it('a worker result moves a future-scheduled instance to now without an audit row [SETTLE-2] [AUD-1]', async () => {
    const { id, taskId } = await twoWaits('scheduled');
    await report(taskId);
    const now = await world.now();
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: now, dueAt: now });
    expect(await world.store.listAudit(null, id, 10)).toHaveLength(1);
  });

  it('a worker result wakes a parked instance and leaves it running [SETTLE-2]', async () => {
    const { id, taskId } = await twoWaits('running');
    await report(taskId);
    expect(await world.view(id)).toMatchObject({ state: 'running', dueAt: await world.now() });
  });

  it('a worker result for a paused instance leaves it paused [WRK-7]', async () => {
    const { id, taskId } = await twoWaits('paused');
    await report(taskId);
    expect(await world.view(id)).toMatchObject({ state: 'paused', dueAt: await world.now() });
    expect((await world.frontier(id)).inbox).toMatchObject([{ fact: { kind: 'task', taskId } }]);
  });

  it('a worker result under a live lease leaves the state to the turn, whose settle is due at once (RULINGS A5)', async () => {
    const { id, task } = await world.claimedTask();
    await poke(id);
    const claim = await world.claim(id);
    await report(task.id);
    expect((await world.view(id)).state).toBe('waiting');
    const settle = settleAs('waiting', { openWaits: 1 });
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), settle }));
    expect(await world.view(id)).toMatchObject({ state: 'waiting', dueAt: await world.now() });
    expect((await world.claim(id)).inbox).toMatchObject([{ seq: 2, fact: { kind: 'task' } }]);
  });

  for (const state of ENDED_STATES) {
    it(`the end as ${state} closes open tasks, expires facts behind a cancel and has no due time [INS-14]`, async () => {
      const { id, taskId } = await world.waitingForWorker();
      await poke(id, 'cancel');
      const claim = await world.claim(id);
      if (state === 'cancelled') await poke(id);
      const audit = [auditEntry('waiting', state)];
      await world.apply(turnOf(claim, { inboxDone: allDone(claim), audit, settle: settleAs(state) }));
      expect(await world.view(id)).toMatchObject({ state, dueAt: null, openWaits: 0, leaseUntil: null });
      expect(await world.frontier(id)).toMatchObject({ openTasks: [], inbox: [] });
      const events = await world.store.listTaskEvents(null, taskId, 10);
      expect(events).toMatchObject([{ event: 'cancelled' }]);
    });
  }

  it('an operator may end an instance at once, facts unseen: they expire [CAN-7] [SIG-8]', async () => {
    const id = await world.start();
    await world.claim(id);
    const taken = await world.claim(id, { mode: 'operator', takeOver: true });
    await poke(id);
    const audit = [auditEntry('running', 'cancelled')];
    await world.apply(turnOf(taken, { audit, settle: settleAs('cancelled') }));
    expect(await world.view(id)).toMatchObject({ state: 'cancelled', dueAt: null });
    expect((await world.frontier(id)).inbox).toEqual([]);
  });

  it('facts that expired with one run do not wake the next one', async () => {
    const id = await world.start();
    const claim = await world.operate(id);
    await poke(id);
    const audit = [auditEntry('scheduled', 'cancelled')];
    await world.apply(turnOf(claim, { audit, settle: settleAs('cancelled') }));
    const dueAt = (await world.now()) + 5_000;
    await world.apply(
      turnOf(await world.operate(id), {
        instance: { newRun: { runNo: 2, runId: nextId() } },
        audit: [auditEntry('cancelled', 'scheduled')],
        settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }),
      }),
    );
    expect((await world.view(id)).dueAt).toBe(dueAt);
  });

  async function report(taskId: string): Promise<void> {
    const answer = await world.store.reportTask({
      tenantId: null,
      taskId,
      workerId: 'w-lisbon-2',
      claimEpoch: 1,
      factId: nextId(),
      outcome: { ok: true, output: {} },
      logs: [],
    });
    expect(answer.status).toBe('accepted');
  }

  /** A worker holds one task; another branch of the instance makes it settle as `state`, far in the future. */
  async function twoWaits(
    state: 'scheduled' | 'running' | 'paused',
  ): Promise<{ readonly id: string; readonly taskId: string }> {
    const { id, task } = await world.claimedTask();
    const claim = await world.operate(id);
    const far = state === 'paused' ? null : (await world.now()) + 900_000;
    await world.store.pollTasks(pollRequest());
    // The audit row of waiting -> state is left out: these tests count the rows that the store writes.
    await world.apply(
      turnOf(claim, {
        frames: [write(frame({ leaf: waitingLeaf('worker', { taskId: task.id }) }))],
        settle: settleAs(state, { dueAt: far, nextFireAt: state === 'scheduled' ? far : null, openWaits: 1 }),
      }),
    );
    return { id, taskId: task.id };
  }
}
