import { expect, it } from 'vitest';
import { auditEntry, frame, leaf, nextId, row, settleAs, turnOf, write } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeIntents(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const signal = async (id: string, signalType = 'custom:poke'): Promise<string> => {
    const signalId = nextId();
    await world.store.signal({ tenantId: null, instanceId: id, signalId, signalType, payload: null });
    return signalId;
  };
  const without = frame({ cursor: 1 });
  const intended = frame({ cursor: 1, leaf: leaf({ dispatchedAt: 1_000 }) });
  const next = { frames: [{ frame: without, intent: intended }] };

  it('an intent is granted while no fact is unseen, and stored (RULINGS A9)', async () => {
    const claim = await world.claim(await world.start());
    expect(await world.commit(turnOf(claim, { ...next, rows: [row()] }))).toEqual({
      verdict: 'ok',
      granted: true,
      inbox: [],
    });
    expect((await world.frontier(claim.instanceId)).frames).toEqual([intended]);
  });

  it('a fact that the turn has not seen holds the intent back, the result is stored all the same (RULINGS A9)', async () => {
    const claim = await world.claim(await world.start());
    const signalId = await signal(claim.instanceId);
    expect(await world.commit(turnOf(claim, { ...next, rows: [row()], hasResult: true }))).toEqual({
      verdict: 'ok',
      granted: false,
      inbox: [
        {
          seq: 1,
          id: signalId,
          acceptedAt: await world.now(),
          fact: { kind: 'signal', signalType: 'custom:poke', payload: null },
        },
      ],
    });
    expect((await world.frontier(claim.instanceId)).frames).toEqual([without]);
    expect(await world.store.listOutputs(null, claim.instanceId, { node: false, retry: false })).toHaveLength(
      1,
    );
  });

  it('of turns that share a commit each has its own intent held back or granted (RULINGS A9)', async () => {
    const claims = [];
    for (let n = 0; n < 3; n += 1) claims.push(await world.claim(await world.start()));
    const called = claims[1]?.instanceId ?? '';
    await signal(called);
    const { verdicts } = await world.store.commit(claims.map((claim) => turnOf(claim, next)));
    expect(verdicts).toMatchObject([
      { verdict: 'ok', granted: true, inbox: [] },
      { verdict: 'ok', granted: false, inbox: [{ seq: 1 }] },
      { verdict: 'ok', granted: true, inbox: [] },
    ]);
    const frames = [];
    for (const { instanceId } of claims) frames.push((await world.frontier(instanceId)).frames);
    expect(frames).toEqual([[intended], [without], [intended]]);
  });

  it('once seen, the fact no longer holds the intent back, consumed or not (RULINGS A9)', async () => {
    const claim = await world.claim(await world.start());
    await signal(claim.instanceId);
    await world.apply(turnOf(claim, next));
    const seen = turnOf(claim, { ...next, rev: 1, seenSeq: 1 });
    expect(await world.commit(seen)).toMatchObject({ verdict: 'ok', granted: true, inbox: [] });
  });

  it('facts that earlier turns consumed do not hold intents back', async () => {
    const id = await world.start();
    await signal(id);
    const first = await world.claim(id);
    const settle = settleAs('running', { dueAt: await world.now() });
    await world.apply(turnOf(first, { inboxDone: [{ seq: 1, disposition: 'no_effect' }], settle }));
    const second = await world.claim(id);
    expect(second.inbox).toEqual([]);
    expect(await world.apply(turnOf(second, next))).toMatchObject({ granted: true });
  });

  it('a commit behind a cancel is refused whole, and again until the cancel is seen (RULINGS A10)', async () => {
    const claim = await world.claim(await world.start());
    const signalId = await signal(claim.instanceId, 'cancel');
    const turn = turnOf(claim, { ...next, rows: [row()], kv: [{ key: 'k', value: 1 }], stepsDelta: 1 });
    expect(await world.commit(turn)).toEqual({ verdict: 'refused' });
    expect(await world.commit(turn)).toEqual({ verdict: 'refused' });
    expect(await world.view(claim.instanceId)).toMatchObject({
      rev: 0,
      totalSteps: 0,
      hasHistory: false,
      epoch: claim.epoch,
      leaseUntil: claim.leaseUntil,
    });
    expect((await world.frontier(claim.instanceId)).frames).toEqual([]);
    const again = await world.claim(claim.instanceId, { leaseToken: claim.leaseToken });
    expect(again.inbox.map(({ id }) => id)).toEqual([signalId]);
    expect(await world.commit(turnOf(again, { rows: [row()] }))).toMatchObject({ verdict: 'ok' });
  });

  it('the result of a protected leaf passes a cancel, but nothing new is granted (RULINGS A10)', async () => {
    const claim = await world.claim(await world.start());
    await signal(claim.instanceId, 'cancel');
    const turn = turnOf(claim, { ...next, rows: [row()], protectedResult: true });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'ok', granted: false, inbox: [{ seq: 1 }] });
    expect((await world.view(claim.instanceId)).rev).toBe(1);
  });

  it('a cancel refuses nothing after it was seen, also in later turns that drain (RULINGS A10) [CAN-5]', async () => {
    const id = await world.start();
    await signal(id, 'cancel');
    const draining = await world.claim(id);
    const settle = settleAs('running', { dueAt: await world.now() });
    await world.apply(turnOf(draining, { inboxDone: [{ seq: 1, disposition: 'applied' }], settle }));
    await signal(id, 'cancel');
    const second = await world.claim(id);
    await world.apply(turnOf(second, { inboxDone: [{ seq: 2, disposition: 'no_effect' }] }));
    await world.apply(turnOf(second, { rev: 2, rows: [row()] }));
  });

  it('a second cancel has no further effect: what drains is not refused by it [CAN-5] (RULINGS A10)', async () => {
    const id = await world.start();
    await signal(id, 'cancel');
    const draining = await world.claim(id);
    await signal(id, 'cancel');
    const verdict = await world.apply(turnOf(draining, { rows: [row()] }));
    expect(verdict).toMatchObject({ granted: false, inbox: [{ seq: 2 }] });
  });

  it('a cancel of a new run refuses again, though the run before was cancelled (RULINGS A10)', async () => {
    const id = await world.start();
    await signal(id, 'cancel');
    const first = await world.claim(id);
    const audit = [auditEntry('running', 'cancelled')];
    const inboxDone = [{ seq: 1, disposition: 'applied' as const }];
    await world.apply(turnOf(first, { inboxDone, audit, settle: settleAs('cancelled') }));
    const dueAt = await world.now();
    await world.apply(
      turnOf(await world.operate(id), {
        instance: { newRun: { runNo: 2, runId: nextId() } },
        audit: [auditEntry('cancelled', 'scheduled')],
        settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }),
      }),
    );
    const second = await world.claim(id);
    await signal(id, 'cancel');
    expect(await world.commit(turnOf(second, { rows: [row()] }))).toEqual({ verdict: 'refused' });
  });

  it('a commit sent again after a cancel came in is already, not refused (RULINGS A8, A10)', async () => {
    const claim = await world.claim(await world.start());
    const turn = turnOf(claim, { rows: [row()] });
    await world.apply(turn);
    await signal(claim.instanceId, 'cancel');
    expect(await world.commit(turn)).toMatchObject({ verdict: 'already', inbox: [{ seq: 1 }] });
  });

  it('a strict commit is refused when a fact is unseen: the fact wins over the timer (RULINGS A11)', async () => {
    const claim = await world.claim(await world.start());
    await signal(claim.instanceId);
    const turn = turnOf(claim, { strict: true, rows: [row({ kind: 'breach' })] });
    expect(await world.commit(turn)).toEqual({ verdict: 'refused' });
    expect((await world.view(claim.instanceId)).rev).toBe(0);
    expect(await world.commit({ ...turn, seenSeq: 1 })).toMatchObject({ verdict: 'ok' });
  });

  it('a strict commit does not mind facts that were seen but wait (RULINGS A11)', async () => {
    const id = await world.start();
    await signal(id);
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { strict: true, frames: [write(frame())] }));
  });

  for (const state of ['completed', 'failed'] as const) {
    it(`an end as ${state} is refused while a fact is unseen, strict or not (RULINGS A12)`, async () => {
      const claim = await world.claim(await world.start());
      await signal(claim.instanceId);
      const turn = turnOf(claim, { audit: [auditEntry('running', state)], settle: settleAs(state) });
      expect(await world.commit({ ...turn, strict: true })).toEqual({ verdict: 'refused' });
      expect(await world.commit({ ...turn, strict: false })).toEqual({ verdict: 'refused' });
      expect((await world.view(claim.instanceId)).state).toBe('running');
    });
  }
}
