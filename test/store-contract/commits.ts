import { expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { Leaf } from '../../src/core/run/frame.ts';
import {
  allDone,
  auditEntry,
  frame,
  leaf,
  nextId,
  row,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeCommits(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('rev rises by one and steps add up with each applied commit (RULINGS A8) [END-2]', async () => {
    const claim = await world.claim(await world.start());
    await world.apply(turnOf(claim, { stepsDelta: 1 }));
    await world.apply(turnOf(claim, { rev: 1, stepsDelta: 3 }));
    expect(await world.view(claim.instanceId)).toMatchObject({ rev: 2, totalSteps: 4 });
  });

  it('a commit in the middle of a turn keeps the lease', async () => {
    const claim = await world.claim(await world.start());
    await world.apply(turnOf(claim, { frames: [write(frame())] }));
    expect(await world.view(claim.instanceId)).toMatchObject({
      state: 'running',
      epoch: claim.epoch,
      leaseUntil: claim.leaseUntil,
    });
  });

  it('frames are written, replaced and removed by block, branch and iteration', async () => {
    const claim = await world.claim(await world.start());
    const root = frame();
    const left = frame({ blockId: 'both', branch: 0, detail: { kind: 'branch' } });
    const right = frame({ blockId: 'both', branch: 1, detail: { kind: 'branch' } });
    const pass = frame({
      blockId: 'each',
      iteration: 'outer:2',
      detail: { kind: 'loop', passes: 1, inPass: true, pollUntil: null },
    });
    await world.apply(turnOf(claim, { frames: [root, left, right, pass].map(write) }));
    const moved = {
      ...right,
      cursor: 3,
      leaf: leaf({ state: 'failed', error: { message: 'm', retryable: false } }),
    };
    await world.apply(turnOf(claim, { rev: 1, frames: [write(moved)], framesDeleted: [left] }));
    const { frames } = await world.frontier(claim.instanceId);
    expect(frames).toHaveLength(3);
    expect(frames).toEqual(expect.arrayContaining([root, moved, pass]));
  });

  it('a leaf comes back with every member it was written with', async () => {
    const claim = await world.claim(await world.start());
    const whole: Required<Leaf> = {
      state: 'waiting',
      reason: 'worker',
      wakeAt: 2_000,
      attempt: 1,
      startedAt: 1_000,
      dispatchedAt: 1_500,
      redeliveries: 2,
      passed: { when: true, delay: false, gate: true },
      gate: null,
      taskId: nextId(),
      childId: nextId(),
      childEnd: 'failed',
      keyRunId: nextId(),
      deadlineAt: 3_000,
      taken: { rate: true, handler: 'charge', probeUntil: 1_700_000_060_000, resource: 'mailbox-1' },
      limit: 'mail',
      offWindow: true,
      cacheKey: 'k',
      input: { edited: true },
      error: { message: 'm', retryable: true },
    };
    await world.apply(turnOf(claim, { frames: [write(frame({ leaf: whole }))] }));
    expect((await world.frontier(claim.instanceId)).frames).toStrictEqual([frame({ leaf: whole })]);
  });

  it('a frame that is removed and written in one commit is there afterwards', async () => {
    const claim = await world.claim(await world.start());
    await world.apply(turnOf(claim, { frames: [write(frame())] }));
    const again = frame({ cursor: 2 });
    await world.apply(turnOf(claim, { rev: 1, framesDeleted: [frame()], frames: [write(again)] }));
    expect((await world.frontier(claim.instanceId)).frames).toEqual([again]);
  });

  it('the next claim is given the frames', async () => {
    const id = await world.start();
    const open = frame({ cursor: 1, leaf: waitingLeaf('input') });
    const settle = settleAs('running', { dueAt: await world.now() });
    await world.apply(turnOf(await world.claim(id), { frames: [write(open)], settle }));
    const claim = await world.claim(id);
    expect(claim.frames).toEqual([open]);
    expect(claim.instance.rev).toBe(1);
  });

  it('data keys are set and removed one by one, null is stored as null [CTX-4]', async () => {
    const claim = await world.claim(await world.start({ data: { keep: 1, nested: { a: 1 }, gone: 2 } }));
    const instance = { dataSet: { nested: { b: 2 }, empty: null }, dataRemoved: ['gone', 'never'] };
    await world.apply(turnOf(claim, { instance }));
    expect((await world.view(claim.instanceId)).data).toEqual({ keep: 1, nested: { b: 2 }, empty: null });
  });

  for (const data of ['text', 5, null, [1, 2], true] satisfies Json[]) {
    it(`data that is ${JSON.stringify(data)} becomes an object before keys are set [CTX-2]`, async () => {
      const claim = await world.claim(await world.start({ data }));
      await world.apply(turnOf(claim, { instance: { dataSet: { a: 1 } } }));
      expect((await world.view(claim.instanceId)).data).toEqual({ a: 1 });
    });
  }

  it('data is replaced as a whole before keys are set', async () => {
    const claim = await world.claim(await world.start({ data: { old: 1 } }));
    await world.apply(turnOf(claim, { instance: { data: { fresh: 1 }, dataSet: { b: 2 } } }));
    expect((await world.view(claim.instanceId)).data).toEqual({ fresh: 1, b: 2 });
    await world.apply(turnOf(claim, { rev: 1, instance: { data: null } }));
    expect((await world.view(claim.instanceId)).data).toBeNull();
  });

  it('keys of any name are kept as ordinary members', async () => {
    const odd: Json = JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3,"\\u00e9\\ud83d\\ude00":4}');
    const claim = await world.claim(await world.start({ data: { before: true } }));
    await world.apply(turnOf(claim, { instance: { data: odd, dataSet: JSON.parse('{"__proto__":5}') } }));
    const { data } = await world.view(claim.instanceId);
    expect(JSON.parse(JSON.stringify(data))).toEqual(
      JSON.parse('{"__proto__":5,"constructor":2,"":3,"\\u00e9\\ud83d\\ude00":4}'),
    );
  });

  it('numbers come back as they went in, minus zero as zero', async () => {
    const numbers = [0.1, 1e21, 5e-324, 9007199254740991, -1.5, 1.7976931348623157e308];
    const claim = await world.claim(await world.start());
    await world.apply(turnOf(claim, { instance: { data: { numbers, zero: -0 } } }));
    const { data } = await world.view(claim.instanceId);
    expect(data).toEqual({ numbers, zero: 0 });
  });

  it('an absent column stays, a given one is replaced', async () => {
    const claim = await world.claim(
      await world.start({ metadata: { depot: 'north-2' }, config: { mode: 'a' }, audit: [{ who: 'b' }] }),
    );
    const currentStep = { blockId: 'ask', startedAt: 1_000, attempt: 2 };
    await world.apply(turnOf(claim, { instance: { metadata: { budget_breach: 'max_steps' }, currentStep } }));
    expect(await world.view(claim.instanceId)).toMatchObject({
      metadata: { budget_breach: 'max_steps' },
      config: { mode: 'a' },
      audit: [{ who: 'b' }],
      currentStep,
      cancelRequestedAt: null,
    });
    const instance = { config: { mode: 'c' }, audit: [], cancelRequestedAt: 5_000 };
    await world.apply(turnOf(claim, { rev: 1, instance }));
    const view = await world.view(claim.instanceId);
    expect(view).toMatchObject({ config: { mode: 'c' }, audit: [], cancelRequestedAt: 5_000, currentStep });
    expect(view.metadata).toEqual({ budget_breach: 'max_steps' });
  });

  it('the visible state may change between settles (TURN-1) (RULINGS A40)', async () => {
    const id = await world.inState('waiting');
    const claim = await world.operate(id);
    const audit = [auditEntry('waiting', 'running')];
    await world.apply(turnOf(claim, { audit, instance: { state: 'running' } }));
    expect(await world.view(id)).toMatchObject({ state: 'running', leaseUntil: claim.leaseUntil });
  });

  it('a new run has a number and an id of its own and counts from nothing [OP-2]', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    await world.apply(
      turnOf(claim, {
        stepsDelta: 4,
        rows: [row({ blockId: 'done' })],
        instance: { cancelRequestedAt: 9_000, currentStep: { blockId: 'pay', startedAt: 1, attempt: 0 } },
        audit: [auditEntry('running', 'failed')],
        settle: settleAs('failed', { failure: { blockId: 'pay', error: { message: 'declined' } } }),
      }),
    );
    expect((await world.view(id)).failure).toEqual({ blockId: 'pay', error: { message: 'declined' } });
    const runId = nextId();
    const dueAt = await world.now();
    await world.apply(
      turnOf(await world.operate(id), {
        instance: { newRun: { runNo: 2, runId } },
        rows: [row({ blockId: 'pay', kind: 'node' })],
        audit: [auditEntry('failed', 'scheduled')],
        settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }),
      }),
    );
    expect(await world.view(id)).toMatchObject({
      state: 'scheduled',
      runNo: 2,
      runId,
      totalSteps: 0,
      recoveryCount: 0,
      startedAt: null,
      cancelRequestedAt: null,
      currentStep: null,
      failure: null,
      rev: 2,
      hasHistory: true,
    });
    const rows = await world.store.listOutputs(null, id, { node: true, retry: true });
    expect(rows?.map(({ blockId, runNo }) => [blockId, runNo])).toEqual([
      ['done', 1],
      ['pay', 2],
    ]);
    await world.advance(5);
    expect((await world.claim(id)).instance).toMatchObject({ runNo: 2, startedAt: await world.now() });
  });

  it('a cancel of the run before does not reach into the new one (RULINGS A10)', async () => {
    const id = await world.start();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'cancel',
      payload: null,
    });
    const claim = await world.claim(id);
    const audit = [auditEntry('running', 'cancelled')];
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), audit, settle: settleAs('cancelled') }));
    const dueAt = await world.now();
    await world.apply(
      turnOf(await world.operate(id), {
        instance: { newRun: { runNo: 2, runId: nextId() } },
        audit: [auditEntry('cancelled', 'scheduled')],
        settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }),
      }),
    );
    const intent = frame({ leaf: leaf({ dispatchedAt: 1 }) });
    const verdict = await world.apply(
      turnOf(await world.claim(id), { frames: [{ frame: frame(), intent }] }),
    );
    expect(verdict.granted).toBe(true);
  });

  it('audit rows come back newest first, in the order in which they were written [AUD-1]', async () => {
    const id = await world.inState('waiting');
    const claim = await world.operate(id);
    const resumed = { ...auditEntry('waiting', 'running'), blockId: 'ask', details: { reason: 'answered' } };
    const ended = auditEntry('running', 'completed');
    await world.apply(
      turnOf(claim, { strict: true, audit: [resumed, ended], settle: settleAs('completed') }),
    );
    const rows = await world.store.listAudit(null, id, 10);
    expect(rows?.map(({ fromState, toState }) => [fromState, toState])).toEqual([
      ['running', 'completed'],
      ['waiting', 'running'],
      ['running', 'waiting'],
    ]);
    expect(rows?.[1]).toEqual({
      ...resumed,
      instanceId: id,
      tenantId: 'saltmarsh',
      eventType: 'state_transition',
      createdAt: await world.now(),
    });
    expect(await world.store.listAudit(null, id, 1)).toEqual(rows?.slice(0, 1));
  });

  it('log lines come back ordered by their instants', async () => {
    const claim = await world.claim(await world.start());
    const late = { blockId: 'b', at: 2_000, level: 'warn' as const, message: 'late' };
    const early = { blockId: 'a', at: 1_000, level: 'debug' as const, message: 'early' };
    await world.apply(turnOf(claim, { logs: [late, early] }));
    expect(await world.store.listLogs(null, claim.instanceId, 10)).toEqual([early, late]);
    expect(await world.store.listLogs(null, claim.instanceId, 1)).toEqual([early]);
  });

  it('what goes in and what comes out share nothing', async () => {
    const output = { list: [1, 2] };
    const data = { nested: { a: 1 } };
    const claim = await world.claim(await world.start({ data }));
    await world.apply(turnOf(claim, { rows: [row({ output })], tasksCreated: [task({ params: output })] }));
    output.list.push(3);
    data.nested.a = 2;
    const key = { tenantId: claim.tenantId, instanceId: claim.instanceId };
    expect((await world.store.readOutputs(key, 'all')).get('lookup')).toEqual({ list: [1, 2] });
    expect((await world.view(claim.instanceId)).data).toEqual({ nested: { a: 1 } });
    expect((await world.frontier(claim.instanceId)).openTasks[0]?.params).toEqual({ list: [1, 2] });
  });
}
