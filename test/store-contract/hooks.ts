import { expect, it } from 'vitest';
import type { HooksPending } from '../../src/core/run/hooks/hooks-pending.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { auditEntry, child, nextId, row, settleAs, task, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, expectRejected, oneRequest, pollRequest, useWorld } from './world.ts';

const RUN_ID = '01900000-0000-7000-8000-00000000beef';
const pending = (more: Partial<HooksPending> = {}): HooksPending => ({
  cause: 'on_failure',
  runNo: 1,
  runId: RUN_ID,
  next: 0,
  tasks: [],
  ...more,
});
const FAILURE = { blockId: 'pay', error: { message: 'no', retryable: false } };

export function describeHooks(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('an end with hooks is due and shows no change of it [HOOK-4] [INS-13]', async () => {
    const { id } = await failed();
    const view = await world.view(id);
    expect(view).toMatchObject({ state: 'failed', nextFireAt: null, openWaits: 0, hooks: pending() });
    expect(view.dueAt).toBe(await world.now());
    expect((await world.store.nextWake()).dueAt).toBe(view.dueAt);
  });

  it('an ended instance with hooks is claimed by the sweep and by a hint, and stays ended [HOOK-3] [HOOK-4]', async () => {
    const { id } = await failed();
    const { claims } = await world.store.claimDue(dueRequest());
    expect(claims).toMatchObject([{ instanceId: id, instance: { state: 'failed', hooks: pending() } }]);
    await world.store.releaseLeases(claims);
    expect((await world.view(id)).dueAt).toBe(await world.now());
    expect((await world.claim(id)).instance).toMatchObject({ state: 'failed', hooks: pending() });
  });

  it('a hook and the turn of the next one are one commit, which changes nothing else [HOOK-3] [HOOK-4]', async () => {
    const { id } = await failed();
    const claim = await world.claim(id);
    const hooks = pending({ next: 1, called: true });
    await world.apply(turnOf(claim, { rows: [row({ blockId: 'tidy', kind: 'hook' })], instance: { hooks } }));
    expect(await world.view(id)).toMatchObject({
      state: 'failed',
      failure: FAILURE,
      hooks,
      rev: claim.instance.rev + 1,
    });
    await finish({ ...claim, instance: { ...claim.instance, rev: claim.instance.rev + 1 } });
    const view = await world.view(id);
    expect(view).toMatchObject({ state: 'failed', failure: FAILURE, dueAt: null, leaseUntil: null });
    expect(view.hooks ?? null).toBeNull();
    expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'terminal' });
    expect(await world.store.listAudit(null, id, 10)).toHaveLength(1);
  });

  it('a turn that is lost among the hooks is taken over, and counts when one was called [HOOK-4] [REC-3]', async () => {
    const { id } = await failed();
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { instance: { hooks: pending({ next: 1, called: true }) } }));
    await world.advance(LEASE_MS + 1);
    const { claims } = await world.store.claimExpired(dueRequest());
    expect(claims).toMatchObject([
      {
        instanceId: id,
        takenOver: true,
        instance: { state: 'failed', recoveryCount: 1, hooks: { next: 1 } },
      },
    ]);
    // Whoever held it before has lost it.
    const { verdict } = await world.commit(turnOf(claim, { rev: claim.instance.rev + 1 }));
    expect(verdict).toBe('fenced');
  });

  it('leases of a dead process are voided, and the hooks are due at once (RULINGS B18)', async () => {
    const { id } = await failed();
    await world.claim(id);
    expect(await world.store.voidAllLeases()).toBe(1);
    expect(await world.view(id)).toMatchObject({
      state: 'failed',
      dueAt: await world.now(),
      leaseUntil: null,
    });
  });

  it('hooks that make no progress are given up, and the end stays [HOOK-3] (RULINGS B7)', async () => {
    const { id } = await failed();
    for (let claims = 0; claims < 20; claims += 1) {
      const claim = await world.claim(id);
      const settle = settleAs('failed', { dueAt: await world.now(), afterEnd: true });
      await world.apply(turnOf(claim, { settle }));
    }
    expect((await world.store.claimDue(dueRequest())).claims).toEqual([]);
    const view = await world.view(id);
    expect(view).toMatchObject({ state: 'failed', dueAt: null, failure: FAILURE });
    expect(view.hooks ?? null).toBeNull();
    expect(await world.store.listJournal(null, id, 10)).toMatchObject([{ kind: 'hooks_given_up' }]);
  });

  it('an end whose hooks nobody would run is rejected (RULINGS A27)', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    const audit = [auditEntry('running', 'failed')];
    const turn = turnOf(claim, { audit, instance: { hooks: pending() }, settle: settleAs('failed') });
    await expectRejected(world.store.commit([turn]));
  });

  it('the task of a hook outlives the end, and its report is taken in [HOOK-2] [INS-14]', async () => {
    const { id, taskId, claim } = await failedWithTask();
    await world.apply(turnOf(claim, { settle: settleAs('failed', { afterEnd: true, openWaits: 1 }) }));
    expect(await world.view(id)).toMatchObject({ state: 'failed', dueAt: null, openWaits: 1 });
    const [polled] = await world.store.pollTasks(pollRequest());
    expect(polled?.id).toBe(taskId);
    expect(await report(taskId)).toBe('accepted');
    expect(await world.view(id)).toMatchObject({ state: 'failed', dueAt: await world.now() });
    const next = await world.claim(id);
    expect(next.inbox).toMatchObject([
      { fact: { kind: 'task', taskId, outcome: { ok: true, output: { swept: 1 } } } },
    ]);
    const done = turnOf(next, {
      rows: [row({ blockId: 'sweep', kind: 'hook', output: { swept: 1 } })],
      inboxDone: next.inbox.map(({ seq }) => ({ seq, disposition: 'applied' as const })),
      instance: { hooks: null },
      settle: settleAs('failed', { afterEnd: true }),
    });
    await world.apply(done);
    expect(await world.view(id)).toMatchObject({ state: 'failed', dueAt: null, openWaits: 0 });
  });

  it('a report under the lease of the last turn is not lost: the settle is due at once (RULINGS A5)', async () => {
    const { id, taskId, claim } = await failedWithTask();
    await world.store.pollTasks(pollRequest());
    await report(taskId);
    await world.apply(turnOf(claim, { settle: settleAs('failed', { afterEnd: true, openWaits: 1 }) }));
    expect((await world.view(id)).dueAt).toBe(await world.now());
    expect((await world.claim(id)).inbox).toHaveLength(1);
  });

  it('tells the worker of a hook to go on, although its run was cancelled [WRK-12] [HOOK-2]', async () => {
    const id = await world.start();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'cancel',
      payload: null,
    });
    const claim = await world.claim(id);
    const created = task({ blockId: 'sweep', ofHook: true });
    const hooks = pending({
      cause: 'on_cancel',
      next: null,
      tasks: [{ taskId: created.id, blockId: 'sweep', runNo: 1 }],
    });
    await world.apply(
      turnOf(claim, {
        inboxDone: [{ seq: 1, disposition: 'applied' }],
        audit: [auditEntry('running', 'cancelled')],
        tasksCreated: [created],
        instance: { hooks },
        settle: settleAs('cancelled', { openWaits: 1 }),
      }),
    );
    await world.store.pollTasks(pollRequest());
    const beat = { tenantId: null, taskId: created.id, workerId: 'w-lisbon-2', claimEpoch: 1 };
    expect(await world.store.heartbeatTask(beat)).toMatchObject({ status: 'ok', cancelled: false });
  });

  it('a turn after the end wakes no parent again and cancels nobody [SUB-8] [HOOK-3]', async () => {
    const parentId = await world.start();
    const parent = await world.claim(parentId);
    const started = child();
    await world.apply(
      turnOf(parent, { childrenStarted: [started], settle: settleAs('waiting', { openWaits: 1 }) }),
    );
    const claim = await world.claim(started.id);
    await world.apply(
      turnOf(claim, {
        audit: [auditEntry('running', 'failed')],
        instance: { hooks: pending() },
        settle: settleAs('failed', { dueAt: await world.now(), failure: FAILURE }),
      }),
    );
    expect((await world.frontier(parentId)).inbox).toHaveLength(1);
    await finish(await world.claim(started.id));
    expect((await world.frontier(parentId)).inbox).toHaveLength(1);
  });

  it('a row of a hook may belong to an earlier run [HOOK-3]', async () => {
    const { id } = await failed();
    const claim = await world.operate(id);
    const rows = [row({ blockId: 'tidy', kind: 'hook', runNo: 1 })];
    await world.apply(
      turnOf(claim, {
        rows,
        instance: { hooks: null, newRun: { runNo: 2, runId: nextId() } },
        audit: [auditEntry('failed', 'scheduled')],
        settle: settleAs('scheduled', { dueAt: await world.now() }),
      }),
    );
    const listed = await world.store.listOutputs(null, id, { node: false, retry: false });
    expect(listed).toMatchObject([{ blockId: 'tidy', kind: 'hook', runNo: 1 }]);
  });

  async function failed(): Promise<{ readonly id: string }> {
    const id = await world.start();
    const claim = await world.claim(id);
    await world.apply(
      turnOf(claim, {
        audit: [auditEntry('running', 'failed')],
        instance: { hooks: pending() },
        settle: settleAs('failed', { dueAt: await world.now(), failure: FAILURE }),
      }),
    );
    return { id };
  }

  /** The turn of the hooks has given a task to a worker and still holds its lease. */
  async function failedWithTask(): Promise<{
    readonly id: string;
    readonly taskId: string;
    readonly claim: Claim;
  }> {
    const { id } = await failed();
    const claim = await world.claim(id);
    const created = task({ blockId: 'sweep', ofHook: true });
    const hooks = pending({ next: null, tasks: [{ taskId: created.id, blockId: 'sweep', runNo: 1 }] });
    await world.apply(turnOf(claim, { tasksCreated: [created], instance: { hooks } }));
    const instance = { ...claim.instance, rev: claim.instance.rev + 1 };
    return { id, taskId: created.id, claim: { ...claim, instance } };
  }

  async function finish(claim: Claim): Promise<void> {
    await world.apply(
      turnOf(claim, { instance: { hooks: null }, settle: settleAs('failed', { afterEnd: true }) }),
    );
  }

  async function report(taskId: string): Promise<string> {
    const answer = await world.store.reportTask({
      tenantId: null,
      taskId,
      workerId: 'w-lisbon-2',
      claimEpoch: 1,
      factId: nextId(),
      outcome: { ok: true, output: { swept: 1 } },
      logs: [],
    });
    return answer.status;
  }
}
