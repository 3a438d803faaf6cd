import { expect, it } from 'vitest';
import { allDone, auditEntry, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { ENDED_STATES, LIVE_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, useWorld } from './world.ts';

export function describeInboxOrder(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const signalOf = (
    instanceId: string,
    overrides: { readonly signalId?: string; readonly signalType?: string } = {},
  ) => ({
    tenantId: null,
    instanceId,
    signalId: nextId(),
    signalType: 'custom:poke',
    payload: null,
    ...overrides,
  });

  for (const state of LIVE_STATES) {
    it(`a signal to a ${state} instance is accepted and in its inbox (RULINGS A4)`, async () => {
      const id = await world.inState(state);
      const signal = { ...signalOf(id), payload: { n: 1 } };
      expect(await world.store.signal(signal)).toEqual({
        status: 'accepted',
        signalId: signal.signalId,
        held: false,
      });
      expect((await world.frontier(id)).inbox).toEqual([
        {
          seq: 1,
          id: signal.signalId,
          acceptedAt: await world.now(),
          fact: { kind: 'signal', signalType: 'custom:poke', payload: { n: 1 } },
        },
      ]);
    });
  }

  for (const state of ENDED_STATES) {
    it(`a signal to a ${state} instance is refused under the lock [SIG-2] (RULINGS A12)`, async () => {
      const id = await world.inState(state);
      expect(await world.store.signal(signalOf(id))).toEqual({ status: 'terminal', state });
      expect((await world.frontier(id)).inbox).toEqual([]);
      expect((await world.view(id)).dueAt).toBeNull();
    });
  }

  it('a signal to an unknown instance or one of another tenant finds nothing [SIG-2]', async () => {
    const id = await world.start();
    expect(await world.store.signal(signalOf(nextId()))).toEqual({ status: 'not_found' });
    expect(await world.store.signal({ ...signalOf(id), tenantId: 'other' })).toEqual({
      status: 'not_found',
    });
  });

  it('a signal tells whether a turn holds the instance', async () => {
    const id = await world.start();
    await world.claim(id);
    expect(await world.store.signal(signalOf(id))).toMatchObject({ status: 'accepted', held: true });
    await world.advance(LEASE_MS);
    expect(await world.store.signal(signalOf(id))).toMatchObject({ status: 'accepted', held: false });
  });

  it('a signal repeated with its id is accepted once (RULINGS A36)', async () => {
    const id = await world.start();
    const signal = signalOf(id);
    await world.store.signal(signal);
    expect(await world.store.signal(signal)).toEqual({
      status: 'repeated',
      signalId: signal.signalId,
      held: false,
    });
    expect((await world.frontier(id)).inbox).toHaveLength(1);
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { inboxDone: allDone(claim) }));
    // Also when it was processed already, and after the end.
    expect(await world.store.signal(signal)).toMatchObject({ status: 'repeated', held: true });
    expect((await world.frontier(id)).inbox).toEqual([]);
    const audit = [auditEntry('running', 'completed')];
    await world.apply(turnOf(claim, { rev: 1, audit, settle: settleAs('completed') }));
    expect(await world.store.signal(signal)).toMatchObject({ status: 'repeated', held: false });
  });

  it('a repeated signal wakes nobody (RULINGS A36)', async () => {
    const id = await world.inState('paused');
    const signal = signalOf(id);
    await world.store.signal(signal);
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), settle: settleAs('paused') }));
    await world.store.signal(signal);
    expect((await world.view(id)).dueAt).toBeNull();
  });

  it('facts stand in the order of acceptance, whatever their ids say [SIG-3] (RULINGS A4)', async () => {
    const id = await world.start();
    const [low, high] = [nextId(), nextId()];
    await world.store.signal(signalOf(id, { signalId: high }));
    await world.store.signal(signalOf(id, { signalId: low }));
    await world.advance(1);
    const factId = nextId();
    await world.store.patchContext({
      tenantId: null,
      instanceId: id,
      factId,
      sections: { data: {} },
      mode: 'replace',
      maxContextBytes: 0,
    });
    const claim = await world.claim(id);
    expect(claim.inbox.map(({ seq, id: fact }) => [seq, fact])).toEqual([
      [1, high],
      [2, low],
      [3, factId],
    ]);
  });

  it('seqs go on where they were, also over runs of the instance (RULINGS A4)', async () => {
    const id = await world.start();
    await world.store.signal(signalOf(id));
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { inboxDone: allDone(claim) }));
    await world.store.signal(signalOf(id));
    expect((await world.frontier(id)).inbox.map(({ seq }) => seq)).toEqual([2]);
  });

  it('only what was consumed leaves the inbox, in any order', async () => {
    const id = await world.start();
    for (let index = 0; index < 3; index += 1) await world.store.signal(signalOf(id));
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { inboxDone: [{ seq: 2, disposition: 'rejected' }] }));
    expect((await world.frontier(id)).inbox.map(({ seq }) => seq)).toEqual([1, 3]);
    const dueAt = await world.now();
    await world.apply(turnOf(claim, { rev: 1, settle: settleAs('running', { dueAt }) }));
    expect((await world.claim(id)).inbox.map(({ seq }) => seq)).toEqual([1, 3]);
  });
}
