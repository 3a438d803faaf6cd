import { expect, it } from 'vitest';
import type { Claim, NewChild } from '../../src/ports/store/turn.ts';
import {
  allDone,
  auditEntry,
  child,
  frame,
  nextId,
  settleAs,
  turnOf,
  waitingLeaf,
  write,
} from '../support/turn-builder.ts';
import { ENDED_STATES, LIVE_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { dueRequest, expectRejected, useWorld } from './world.ts';

export function describeChildren(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  /** A parent that waits for one child, and the child. */
  async function family(overrides: Parameters<typeof world.start>[0] = {}) {
    const parentId = await world.start(overrides);
    const started = child();
    await world.apply(
      turnOf(await world.claim(parentId), {
        childrenStarted: [started],
        frames: [write(frame({ leaf: waitingLeaf('child', { childId: started.id }) }))],
        audit: [auditEntry('running', 'waiting')],
        settle: settleAs('waiting', { openWaits: 1 }),
      }),
    );
    return { parentId, childId: started.id };
  }

  async function end(id: string, state: (typeof ENDED_STATES)[number]): Promise<void> {
    const claim = await world.claim(id);
    const failure =
      state === 'failed' ? { blockId: 'pay', error: { message: 'declined', code: 'NO_FUNDS' } } : null;
    const audit = [auditEntry('running', state)];
    await world.apply(
      turnOf(claim, { inboxDone: allDone(claim), strict: true, audit, settle: settleAs(state, { failure }) }),
    );
  }

  it('a child inherits what [SUB-3] names and nothing else', async () => {
    const parentId = await world.start({
      priority: 3,
      timezone: 'Europe/Lisbon',
      sessionId: nextId(),
      budget: { max_steps: 5 },
      dryRun: true,
      dryRunAutoApprove: true,
      metadata: { depot: 'north-2' },
      config: { mode: 'a' },
      audit: [{ who: 'b' }],
      data: { parent: true },
      concurrencyKey: 'depot',
      maxConcurrency: 1,
      idempotencyKey: 'order-1',
    });
    const parent = await world.claim(parentId);
    const started = child({ iteration: 'each:2', entry: 1, data: { parcel: 1 } });
    await world.apply(turnOf(parent, { childrenStarted: [started] }));
    const now = await world.now();
    expect(await world.view(started.id)).toMatchObject({
      id: started.id,
      runId: started.runId,
      runNo: 1,
      sequenceId: started.sequenceId,
      tenantId: parent.instance.tenantId,
      namespace: parent.instance.namespace,
      priority: 3,
      timezone: 'Europe/Lisbon',
      sessionId: parent.instance.sessionId,
      budget: { max_steps: 5 },
      dryRun: true,
      dryRunAutoApprove: true,
      metadata: started.metadata,
      config: {},
      audit: [],
      data: { parcel: 1 },
      concurrencyKey: null,
      maxConcurrency: null,
      idempotencyKey: null,
      state: 'scheduled',
      nextFireAt: now,
      dueAt: now,
      depth: 1,
      parent: { instanceId: parentId, blockId: 'inner', iteration: 'each:2', entry: 1 },
    });
  });

  it('the depth grows with each generation [SUB-5]', async () => {
    const { childId } = await family();
    const grandchild = child();
    await world.apply(turnOf(await world.claim(childId), { childrenStarted: [grandchild] }));
    expect((await world.view(grandchild.id)).depth).toBe(2);
  });

  it('one child per entry of the node and pass; other entries and passes have their own [SUB-6] (RULINGS A17)', async () => {
    const parent = await world.claim(await world.start());
    const first = child();
    await world.apply(turnOf(parent, { childrenStarted: [first] }));
    await expectRejected(world.store.commit([turnOf(parent, { rev: 1, childrenStarted: [child()] })]));
    const others: readonly NewChild[] = [
      child({ entry: 1 }),
      child({ iteration: 'l:1' }),
      child({ blockId: 'other' }),
    ];
    await world.apply(turnOf(parent, { rev: 1, childrenStarted: others }));
    const children = await world.store.listChildren(null, parent.instanceId);
    expect(children?.map(({ id }) => id)).toEqual([first.id, ...others.map(({ id }) => id)]);
  });

  for (const state of ENDED_STATES) {
    it(`a child that ends as ${state} wakes its waiting parent in the same commit [SUB-8] (RULINGS A17)`, async () => {
      const { parentId, childId } = await family();
      await world.advance(5);
      await end(childId, state);
      const now = await world.now();
      const frontier = await world.frontier(parentId);
      expect(frontier.instance).toMatchObject({ state: 'scheduled', nextFireAt: now, dueAt: now });
      const error = state === 'failed' ? { message: 'declined', code: 'NO_FUNDS' } : null;
      expect(frontier.inbox).toMatchObject([
        { seq: 1, acceptedAt: now, fact: { kind: 'child', childId, blockId: 'inner', state, error } },
      ]);
      expect((await world.store.listAudit(null, parentId, 1))?.[0]).toMatchObject({
        fromState: 'waiting',
        toState: 'scheduled',
      });
    });

    it(`a parent that is ${state} is not changed by its child [SUB-10]`, async () => {
      const { parentId, childId } = await family();
      const claim = await world.operate(parentId);
      const audit = [auditEntry('waiting', state)];
      await world.apply(turnOf(claim, { audit, settle: settleAs(state) }));
      const before = await world.view(parentId);
      await end(childId, 'completed');
      const frontier = await world.frontier(parentId);
      expect(frontier.instance).toEqual(before);
      expect(frontier.inbox).toEqual([]);
    });

    it(`a parent that ends as ${state} sends its live children a cancel [SUB-9] [INS-14]`, async () => {
      const { parentId, childId } = await family();
      const claim = await world.operate(parentId);
      const audit = [auditEntry('waiting', state)];
      await world.advance(2);
      await world.apply(turnOf(claim, { audit, settle: settleAs(state) }));
      expect((await world.frontier(childId)).inbox).toMatchObject([
        { fact: { kind: 'signal', signalType: 'cancel' }, acceptedAt: await world.now() },
      ]);
    });
  }

  it('a child that starts in the commit that ends its parent gets its cancel at once [SUB-9]', async () => {
    const parent = await world.claim(await world.start());
    const started = child();
    const audit = [auditEntry('running', 'failed')];
    await world.apply(turnOf(parent, { childrenStarted: [started], audit, settle: settleAs('failed') }));
    expect((await world.frontier(started.id)).inbox).toMatchObject([
      { seq: 1, fact: { kind: 'signal', signalType: 'cancel' } },
    ]);
  });

  it('a child may be started and cancelled in one commit [SUB-9]', async () => {
    const parent = await world.claim(await world.start());
    const started = child();
    const childrenCancelled = [{ instanceId: started.id, signalId: nextId() }];
    await world.apply(turnOf(parent, { childrenStarted: [started], childrenCancelled }));
    expect((await world.frontier(started.id)).inbox).toMatchObject([
      { id: childrenCancelled[0]?.signalId, fact: { signalType: 'cancel' } },
    ]);
  });

  it('a child that ends under the parent’s live lease is seen by the parent’s settle (RULINGS A5)', async () => {
    const { parentId, childId } = await family();
    const parent = await world.operate(parentId);
    await end(childId, 'completed');
    expect((await world.view(parentId)).state).toBe('waiting');
    await world.apply(turnOf(parent, { settle: settleAs('waiting', { openWaits: 1 }) }));
    expect((await world.view(parentId)).dueAt).toBe(await world.now());
  });

  it('a paused parent stays paused when its child ends [SUB-10]', async () => {
    const { parentId, childId } = await family();
    const parent = await world.operate(parentId);
    await world.apply(turnOf(parent, { settle: settleAs('paused') }));
    await end(childId, 'completed');
    expect(await world.view(parentId)).toMatchObject({ state: 'paused', dueAt: await world.now() });
  });

  it('cancelling a child is a signal to it under the given id [SUB-9] (RULINGS A10)', async () => {
    const { parentId, childId } = await family();
    const running = await world.claim(childId);
    const signalId = nextId();
    const parent = await world.operate(parentId);
    await world.apply(turnOf(parent, { childrenCancelled: [{ instanceId: childId, signalId }] }));
    expect(await world.commit(turnOf(running, { stepsDelta: 1 }))).toEqual({ verdict: 'refused' });
    expect((await world.frontier(childId)).inbox).toMatchObject([
      { id: signalId, fact: { kind: 'signal', signalType: 'cancel', payload: null } },
    ]);
    expect((await world.view(childId)).epoch).toBe(running.epoch);
  });

  for (const state of LIVE_STATES) {
    it(`a cancel reaches a child that is ${state} and makes it due`, async () => {
      const { parentId, childId } = await family();
      await bring(childId, state);
      const parent = await world.operate(parentId);
      const childrenCancelled = [{ instanceId: childId, signalId: nextId() }];
      await world.apply(turnOf(parent, { childrenCancelled }));
      expect((await world.view(childId)).state).toBe(state);
      const { claims } = await world.store.claimDue(dueRequest());
      expect(claims.map(({ instanceId }) => instanceId)).toEqual([childId]);
    });
  }

  for (const state of ENDED_STATES) {
    it(`a cancel of a child that is ${state} does nothing`, async () => {
      const { parentId, childId } = await family();
      await end(childId, state);
      const before = await world.view(childId);
      const parent = await world.claim(parentId);
      const childrenCancelled = [{ instanceId: childId, signalId: nextId() }];
      await world.apply(turnOf(parent, { childrenCancelled, inboxDone: allDone(parent) }));
      expect(await world.view(childId)).toEqual(before);
    });
  }

  it('a commit reaches only children of its own instance', async () => {
    const stranger = await world.start();
    const parent = await world.claim(await world.start());
    const childrenCancelled = [{ instanceId: stranger, signalId: nextId() }];
    await world.apply(turnOf(parent, { childrenCancelled }));
    expect((await world.frontier(stranger)).inbox).toEqual([]);
  });

  it('children are listed oldest first; unknown and strange instances have none to show', async () => {
    const parent = await world.claim(await world.start());
    const [first, second] = [child({ entry: 0 }), child({ entry: 1 })];
    await world.apply(turnOf(parent, { childrenStarted: [first] }));
    await world.advance(1);
    await world.apply(turnOf(parent, { rev: 1, childrenStarted: [second] }));
    const children = await world.store.listChildren(null, parent.instanceId);
    expect(children?.map(({ id }) => id)).toEqual([first.id, second.id]);
    for (const offset of [0, 1, 2]) {
      const page = await world.store.listChildren(null, parent.instanceId, { offset, limit: 1 });
      expect(page).toEqual(children?.slice(offset, offset + 1));
    }
    expect(await world.store.listChildren(null, first.id)).toEqual([]);
    expect(await world.store.listChildren('other', parent.instanceId)).toBeNull();
    expect(await world.store.listChildren(null, nextId())).toBeNull();
  });

  async function bring(id: string, state: (typeof LIVE_STATES)[number]): Promise<Claim | null> {
    if (state === 'scheduled') return null;
    const claim = await world.claim(id);
    const dueAt = state === 'running' ? (await world.now()) + 900_000 : null;
    const frames = state === 'waiting' ? [write(frame({ leaf: waitingLeaf('input') }))] : [];
    const audit = state === 'running' ? [] : [auditEntry('running', state)];
    const settle = settleAs(state, { dueAt, openWaits: state === 'waiting' ? 1 : 0 });
    await world.apply(turnOf(claim, { frames, audit, settle }));
    return claim;
  }
}
