import { expect, it } from 'vitest';
import type { ChangeAnswer, ChangeRequest, NewChange } from '../../src/ports/store/shape.ts';
import { TENANT, allDone, nextId, row, sequence, settleAs, turnOf } from '../support/turn-builder.ts';
import { ENDED_STATES, LIVE_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const BLOCK = { type: 'step', id: 'x', handler: 'noop', params: null, delay: null, retry: null };
const PLACED = { blocks: [BLOCK], position: 0, before: 'lookup', after: null };
const INJECT: NewChange = { kind: 'inject', ...PLACED };

export function describeShapeChanges(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const accept = (instanceId: string, overrides: Partial<ChangeRequest> = {}): Promise<ChangeAnswer> =>
    world.store.acceptChange({
      tenantId: TENANT,
      instanceId,
      id: nextId(),
      expected: 0,
      change: INJECT,
      ...overrides,
    });
  const changesOf = (instanceId: string) => world.store.listShapeChanges({ tenantId: TENANT, instanceId });
  const publish = async (): Promise<string> => {
    const target = sequence({ id: nextId(), name: nextId() });
    await world.store.insertSequence(target);
    return target.id;
  };

  for (const state of LIVE_STATES) {
    it(`a change of a ${state} instance is numbered, stored and told to its turn [OP-9]`, async () => {
      const id = await world.inState(state);
      expect(await accept(id)).toEqual({ status: 'accepted', number: 1, isTerminal: false });
      const { instance, inbox } = await world.frontier(id);
      expect(instance).toMatchObject({ state, shape: { accepted: 1, applied: 0 }, injected: [BLOCK] });
      expect(inbox.map(({ fact }) => fact)).toEqual([{ kind: 'shape', change: 1 }]);
      expect(instance.dueAt).toBeLessThanOrEqual(await world.now());
      expect(await changesOf(id)).toEqual([{ number: 1, change: INJECT, refused: null }]);
    });
  }

  for (const state of ENDED_STATES) {
    it(`blocks for a ${state} instance are stored without a wake [OP-11]`, async () => {
      const id = await world.inState(state);
      expect(await accept(id)).toEqual({ status: 'accepted', number: 1, isTerminal: true });
      const { instance, inbox } = await world.frontier(id);
      expect([instance.state, instance.dueAt, inbox]).toEqual([state, null, []]);
      expect(instance.shape).toEqual({ accepted: 1, applied: 0 });
    });

    it(`a ${state} instance does not move to another sequence [OP-13]`, async () => {
      const id = await world.inState(state);
      const change = { kind: 'migrate' as const, sequenceId: await publish(), replaced: [] };
      expect(await accept(id, { change })).toEqual({ status: 'terminal' });
      expect(await changesOf(id)).toEqual([]);
    });
  }

  it('of two changes that knew of the same ones the second is stale', async () => {
    const id = await world.inState('waiting');
    await accept(id);
    expect(await accept(id)).toEqual({ status: 'stale' });
    expect(await accept(id, { expected: 1 })).toMatchObject({ status: 'accepted', number: 2 });
  });

  it('a repeat is answered like the first and changes nothing (RULINGS A36)', async () => {
    const id = await world.inState('waiting');
    const changeId = nextId();
    await accept(id, { id: changeId });
    expect(await accept(id, { id: changeId })).toMatchObject({ status: 'accepted', number: 1 });
    expect(await changesOf(id)).toHaveLength(1);
    expect((await world.frontier(id)).inbox).toHaveLength(1);
  });

  it('is not found under another tenant, nor leads to a sequence that is gone', async () => {
    const id = await world.inState('waiting');
    expect(await accept(id, { tenantId: 'other' })).toEqual({ status: 'not_found' });
    const change = { kind: 'migrate' as const, sequenceId: nextId(), replaced: [] };
    expect(await accept(id, { change })).toEqual({ status: 'no_sequence' });
  });

  it('the turn that applies changes says up to which one they are in its frames [OP-14]', async () => {
    const id = await world.inState('waiting');
    const sequenceId = await publish();
    await accept(id);
    await accept(id, { expected: 1, change: { kind: 'migrate', sequenceId, replaced: ['x'] } });
    const claim = await world.claim(id);
    expect(claim.instance.shape).toEqual({ accepted: 2, applied: 0 });
    await world.apply(
      turnOf(claim, {
        inboxDone: allDone(claim),
        instance: { sequenceId, shape: { accepted: 2, applied: 2 } },
        settle: settleAs('waiting', { openWaits: 1 }),
      }),
    );
    const view = await world.view(id);
    expect(view).toMatchObject({ sequenceId, shape: { accepted: 2, applied: 2 }, injected: [] });
  });

  it('a change that is accepted while a turn applies one before it is not forgotten [OP-9] (RULINGS A5)', async () => {
    const id = await world.inState('waiting');
    await accept(id);
    const claim = await world.claim(id);
    await accept(id, { expected: 1 });
    const shape = { accepted: 1, applied: 1 };
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), instance: { shape } }));
    expect((await world.view(id)).shape).toEqual({ accepted: 2, applied: 1 });
    expect(await accept(id, { expected: 1 })).toEqual({ status: 'stale' });
    expect(await accept(id, { expected: 2 })).toMatchObject({ status: 'accepted', number: 3 });
  });

  it('blocks that a step injects are stored with its result, or not at all [OP-12]', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    const added = [{ ...PLACED, id: nextId(), change: 1 }];
    const turn = turnOf(claim, {
      strict: true,
      rows: [row()],
      instance: { shape: { accepted: 1, applied: 1, added } },
    });
    await world.apply(turn);
    expect(await changesOf(id)).toEqual([{ number: 1, change: INJECT, refused: null }]);
    expect(await world.view(id)).toMatchObject({ shape: { accepted: 1, applied: 1 }, injected: [BLOCK] });
    expect(await world.commit(turn)).toMatchObject({ verdict: 'already' });
    expect(await changesOf(id)).toHaveLength(1);
  });

  it('a step that injects is refused when another change was accepted meanwhile [OP-12] (RULINGS A11)', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    await accept(id);
    const shape = { accepted: 1, applied: 1, added: [{ ...PLACED, id: nextId(), change: 1 }] };
    const turn = turnOf(claim, { strict: true, rows: [row()], instance: { shape } });
    expect(await world.commit(turn)).toEqual({ verdict: 'refused' });
    expect(await changesOf(id)).toHaveLength(1);
  });

  it('a migration that could not be carried out is kept with its reason', async () => {
    const id = await world.inState('waiting');
    await accept(id);
    const change: NewChange = { kind: 'migrate', sequenceId: await publish(), replaced: ['x'] };
    await accept(id, { expected: 1, change });
    const claim = await world.claim(id);
    const refused = [{ change: 2, reason: 'no place' }];
    const shape = { accepted: 2, applied: 2, refused };
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), instance: { shape } }));
    expect(await changesOf(id)).toMatchObject([{ refused: null }, { change, refused: 'no place' }]);
    expect((await world.view(id)).injected).toEqual([BLOCK]);
  });

  it('a sequence to which an instance is on its way is in use [VER-5]', async () => {
    const id = await world.inState('waiting');
    const sequenceId = await publish();
    await accept(id, { change: { kind: 'migrate', sequenceId, replaced: [] } });
    expect(await world.store.deleteSequence(TENANT, sequenceId)).toBe('in_use');
    const claim = await world.claim(id);
    const shape = { accepted: 1, applied: 1, refused: [{ change: 1, reason: 'no place' }] };
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), instance: { shape } }));
    expect(await world.store.deleteSequence(TENANT, sequenceId)).toBe('deleted');
  });

  describeCheckpoints(world);
}

function describeCheckpoints(world: ReturnType<typeof useWorld>): void {
  const add = (instanceId: string, data: number) =>
    world.store.addCheckpoint({ tenantId: TENANT, instanceId, id: nextId(), data });
  const list = async (instanceId: string, limit = 100) =>
    (await world.store.listCheckpoints(TENANT, instanceId, limit))?.map(({ data }) => data);

  it('checkpoints are listed newest first, those of one instant by id (20.6)', async () => {
    const id = await world.start();
    for (const data of [1, 2]) await add(id, data);
    await world.advance(5);
    await add(id, 3);
    expect(await list(id)).toEqual([3, 2, 1]);
    expect(await list(id, 2)).toEqual([3, 2]);
  });

  it('a prune keeps the newest checkpoints and answers how many are gone (20.6)', async () => {
    const id = await world.start();
    for (const data of [1, 2, 3, 4, 5]) await add(id, data);
    expect(await world.store.pruneCheckpoints(TENANT, id, 2)).toBe(3);
    expect(await list(id)).toEqual([5, 4]);
    expect(await world.store.pruneCheckpoints(TENANT, id, 2)).toBe(0);
    expect(await world.store.pruneCheckpoints(TENANT, id, 0)).toBe(2);
    expect(await list(id)).toEqual([]);
  });

  it('checkpoints of an unknown instance, or of another tenant, are not there (20.6)', async () => {
    const id = await world.start();
    const unknown = nextId();
    expect(await add(unknown, 1)).toBe(false);
    expect(await list(unknown)).toBeUndefined();
    expect(await world.store.pruneCheckpoints(TENANT, unknown, 0)).toBeNull();
    expect(await world.store.listCheckpoints('other', id, 10)).toBeNull();
    expect(await world.store.pruneCheckpoints('other', id, 0)).toBeNull();
    expect(
      await world.store.addCheckpoint({ tenantId: 'other', instanceId: id, id: nextId(), data: 1 }),
    ).toBe(false);
  });

  it('a checkpoint may be added to an instance that has ended (20.6)', async () => {
    const id = await world.inState('completed');
    await add(id, 1);
    expect(await list(id)).toEqual([1]);
  });
}
