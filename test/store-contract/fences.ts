import { expect, it } from 'vitest';
import {
  auditEntry,
  child,
  frame,
  leaf,
  nextId,
  row,
  settleAs,
  task,
  turnOf,
  write,
} from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, expectRejected, useWorld } from './world.ts';

export function describeFences(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  /** A commit that would be seen in every table. */
  const loud = {
    rows: [row()],
    frames: [write(frame())],
    kv: [{ key: 'k', value: 1 }],
    instance: { dataSet: { touched: true } },
    tasksCreated: [task()],
    stepsDelta: 1,
  };

  async function expectUntouched(id: string, rev: number): Promise<void> {
    expect(await world.view(id)).toMatchObject({ rev, totalSteps: 0, hasHistory: false, data: {} });
    expect(await world.store.listOutputs(null, id, { node: true, retry: true })).toEqual([]);
    expect(await world.frontier(id)).toMatchObject({ frames: [], openTasks: [] });
  }

  const stale = {
    'an old epoch': { epoch: 0 },
    'an epoch of the future': { epoch: 2 },
    'another token': { leaseToken: '0190ffff-0000-7000-8000-000000000001' },
    'another tenant': { tenantId: 'other' },
    'an unknown instance': { instanceId: '0190ffff-0000-7000-8000-000000000002' },
  };
  for (const [name, difference] of Object.entries(stale)) {
    it(`a commit under ${name} is fenced and writes nothing [CLAIM-2] (RULINGS A1)`, async () => {
      const claim = await world.claim(await world.start());
      expect(await world.commit(turnOf(claim, { ...loud, ...difference }))).toEqual({ verdict: 'fenced' });
      await expectUntouched(claim.instanceId, 0);
    });
  }

  it('after a take-over the old turn is fenced and the new one commits (RULINGS A1) [INS-11]', async () => {
    const id = await world.start();
    const old = await world.claim(id);
    await world.advance(LEASE_MS);
    const taken = await world.claim(id);
    expect(await world.commit(turnOf(old, loud))).toEqual({ verdict: 'fenced' });
    await expectUntouched(id, 0);
    await world.apply(turnOf(taken, loud));
    expect((await world.view(id)).rev).toBe(1);
  });

  it('an expired lease that nobody took over still commits: the fence is epoch and token (RULINGS A24)', async () => {
    const claim = await world.claim(await world.start());
    await world.advance(LEASE_MS * 10);
    await world.apply(turnOf(claim, { rows: [row()] }));
  });

  it('after a release the turn is fenced', async () => {
    const claim = await world.claim(await world.start());
    await world.store.releaseLeases([claim]);
    expect(await world.commit(turnOf(claim, loud))).toEqual({ verdict: 'fenced' });
  });

  it('a commit sent again answers already and is applied once (RULINGS A8)', async () => {
    const claim = await world.claim(await world.start());
    const turn = turnOf(claim, { rows: [row()], stepsDelta: 1 });
    expect(await world.commit(turn)).toEqual({ verdict: 'ok', granted: true, inbox: [] });
    expect(await world.commit(turn)).toEqual({ verdict: 'already', granted: true, inbox: [] });
    expect(await world.view(claim.instanceId)).toMatchObject({ rev: 1, totalSteps: 1 });
    expect(await world.store.listOutputs(null, claim.instanceId, { node: true, retry: true })).toHaveLength(
      1,
    );
  });

  it('already answers whether the intents held then, and the facts since (RULINGS A8, A9)', async () => {
    const claim = await world.claim(await world.start());
    const intent = frame({ leaf: leaf({ dispatchedAt: 1_000 }) });
    const turn = turnOf(claim, { frames: [{ frame: frame(), intent }] });
    await world.apply(turn);
    const signalId = nextId();
    await world.store.signal({
      tenantId: null,
      instanceId: claim.instanceId,
      signalId,
      signalType: 'custom:poke',
      payload: null,
    });
    expect(await world.commit(turn)).toMatchObject({
      verdict: 'already',
      granted: true,
      inbox: [{ seq: 1, id: signalId }],
    });
  });

  it('already tells that the intents were not granted (RULINGS A8, A9)', async () => {
    const claim = await world.claim(await world.start());
    await world.store.signal({
      tenantId: null,
      instanceId: claim.instanceId,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const turn = turnOf(claim, { frames: [{ frame: frame(), intent: frame({ leaf: leaf() }) }] });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'ok', granted: false });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'already', granted: false });
  });

  it('a settling commit sent again answers already as well (RULINGS A8)', async () => {
    const claim = await world.claim(await world.start());
    const turn = turnOf(claim, {
      strict: true,
      rows: [row()],
      audit: [auditEntry('running', 'completed')],
      settle: settleAs('completed'),
    });
    expect((await world.commit(turn)).verdict).toBe('ok');
    expect((await world.commit(turn)).verdict).toBe('already');
    expect(await world.store.listAudit(null, claim.instanceId, 10)).toHaveLength(1);
  });

  it('a settling commit sent again after the next claim is fenced', async () => {
    const id = await world.start();
    const dueAt = await world.now();
    const turn = turnOf(await world.claim(id), { settle: settleAs('running', { dueAt }) });
    await world.apply(turn);
    await world.claim(id);
    expect(await world.commit(turn)).toEqual({ verdict: 'fenced' });
  });

  const odd = {
    'a rev of the past': { rev: -1 },
    'a rev of the future': { rev: 1 },
    'another run': { runNo: 2 },
    'a seq that was never given out': { seenSeq: 1 },
    'an inbox row that is not there': { inboxDone: [{ seq: 1, disposition: 'applied' as const }] },
    'an end without a settle': { instance: { state: 'completed' as const } },
    'a run number that skips one': { instance: { newRun: { runNo: 3, runId: nextId() } } },
  };
  for (const [name, difference] of Object.entries(odd)) {
    it(`a commit with ${name} is a bug and writes nothing (RULINGS A7)`, async () => {
      const claim = await world.claim(await world.start());
      const turn = turnOf(claim, { ...loud, ...difference });
      const verdict = await world.commit({ ...turn, instance: { ...loud.instance, ...turn.instance } });
      expect(verdict.verdict).toBe('bug');
      await expectUntouched(claim.instanceId, 0);
    });
  }

  it('an inbox row is consumed only once (RULINGS A7)', async () => {
    const id = await world.start();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const claim = await world.claim(id);
    const inboxDone = [{ seq: 1, disposition: 'applied' as const }];
    await world.apply(turnOf(claim, { inboxDone }));
    expect((await world.commit(turnOf(claim, { rev: 1, inboxDone }))).verdict).toBe('bug');
  });

  it('an inbox row is named once in a commit, and only after it was seen (RULINGS A7)', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const done = { seq: 1, disposition: 'applied' as const };
    expect((await world.commit(turnOf(claim, { seenSeq: 0, inboxDone: [done] }))).verdict).toBe('bug');
    expect((await world.commit(turnOf(claim, { seenSeq: 1, inboxDone: [done, done] }))).verdict).toBe('bug');
    await world.apply(turnOf(claim, { seenSeq: 1, inboxDone: [done] }));
  });

  it('the turns of a batch stand each under its own fence, answered in order (RULINGS A13)', async () => {
    const good = await world.claim(await world.start());
    const lost = await world.claim(await world.start());
    const wrong = await world.claim(await world.start());
    await world.claim(lost.instanceId, { mode: 'operator', takeOver: true });
    const answer = await world.store.commit([
      turnOf(lost, loud),
      turnOf(good, { rows: [row()] }),
      turnOf(wrong, { rev: 9 }),
    ]);
    expect(answer.now).toBe(await world.now());
    expect(answer.verdicts.map(({ verdict }) => verdict)).toEqual(['fenced', 'ok', 'bug']);
    expect((await world.view(good.instanceId)).rev).toBe(1);
  });

  it('a batch with two commits of one instance is rejected whole (RULINGS A14)', async () => {
    const claim = await world.claim(await world.start());
    const other = await world.claim(await world.start());
    const batch = [turnOf(other, { rows: [row()] }), turnOf(claim, loud), turnOf(claim, { rows: [row()] })];
    await expectRejected(world.store.commit(batch));
    expect((await world.view(claim.instanceId)).rev).toBe(0);
    expect((await world.view(other.instanceId)).rev).toBe(0);
  });

  it('a payload that a uniqueness rule refuses takes the whole batch with it, and alone only itself (RULINGS A15)', async () => {
    const good = await world.claim(await world.start());
    const bad = await world.claim(await world.start());
    const twice = turnOf(bad, { rows: [row(), row()] });
    const fine = turnOf(good, { rows: [row()] });
    await expectRejected(world.store.commit([fine, twice]));
    expect((await world.view(good.instanceId)).rev).toBe(0);
    await expectRejected(world.store.commit([twice]));
    await world.apply(fine);
    await expectUntouched(bad.instanceId, 0);
  });

  it('a batch leaves no trace of what came before its refusal (RULINGS A15)', async () => {
    const parent = await world.claim(await world.start());
    const started = child();
    const turn = turnOf(parent, { childrenStarted: [started, child()], kv: [{ key: 'k', value: 1 }] });
    await expectRejected(world.store.commit([turn]));
    expect(await world.store.getInstance(null, started.id)).toBeNull();
    await expectUntouched(parent.instanceId, 0);
  });

  it('an empty batch is answered with no verdicts', async () => {
    expect(await world.store.commit([])).toEqual({ now: await world.now(), verdicts: [] });
  });
}
