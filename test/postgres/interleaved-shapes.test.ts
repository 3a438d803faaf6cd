import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store/store.ts';
import type { ChangeAnswer, NewChange } from '../../src/ports/store/shape.ts';
import { TENANT, nextId, row, sequence, settleAs, turnOf } from '../support/turn-builder.ts';
import { claimRequest, commitOk, commitOne, start, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const PLACED = {
  blocks: [{ type: 'step', id: 'x', handler: 'noop' }],
  position: null,
  before: null,
  after: null,
};
const INJECT: NewChange = { kind: 'inject', ...PLACED };

function accept(store: Store, instanceId: string, change = INJECT, expected = 0): Promise<ChangeAnswer> {
  return store.acceptChange({ tenantId: TENANT, instanceId, id: nextId(), expected, change });
}

/** Blocks that a step injects, as the first change of its run. */
const ownInjection = () => ({ accepted: 1, applied: 1, added: [{ ...PLACED, id: nextId(), change: 1 }] });

const changesOf = (store: Store, instanceId: string) =>
  store.listShapeChanges({ tenantId: TENANT, instanceId });

async function publish(store: Store): Promise<string> {
  const target = sequence({ id: nextId(), name: nextId() });
  await store.insertSequence(target);
  return target.id;
}

/** Changes of what a run is made of, against turns, each other and deletions, in both orders (RULINGS A4, A6, A11). */
describe('changes of a run against turns', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('an end that waited for an injection is refused, and the blocks are run (RULINGS A11) [OP-9]', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await author.begin();
    await accept(author.store, held.instanceId);
    const pending = commitOne(turn.store, turnOf(held, { settle: settleAs('completed') }));
    await turn.untilBlocked();
    await author.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    const again = await turn.store.claimOne({
      ...claimRequest(held.instanceId),
      leaseToken: held.leaseToken,
    });
    expect(again).toMatchObject({ claim: { instance: { shape: { accepted: 1, applied: 0 } } } });
  });

  it('an injection that waited for the end of its run is stored for a later one [OP-11]', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { settle: settleAs('completed') }));
    const pending = accept(author.store, held.instanceId);
    await author.untilBlocked();
    await turn.commit();
    expect(await pending).toEqual({ status: 'accepted', number: 1, isTerminal: true });
    expect(await author.store.getInstance(TENANT, held.instanceId)).toMatchObject({
      state: 'completed',
      dueAt: null,
    });
  });

  it('a migration that waited for the end of its run is not accepted [OP-13]', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    const change: NewChange = { kind: 'migrate', sequenceId: await publish(author.store), replaced: [] };
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { settle: settleAs('completed') }));
    const pending = accept(author.store, held.instanceId, change);
    await author.untilBlocked();
    await turn.commit();
    expect(await pending).toEqual({ status: 'terminal' });
  });

  it('a settle that waited for a change leaves the instance due at once (RULINGS A5)', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await author.begin();
    await accept(author.store, held.instanceId);
    const pending = commitOne(turn.store, turnOf(held, { settle: settleAs('waiting', { openWaits: 1 }) }));
    await turn.untilBlocked();
    await author.commit();
    expect(await pending).toMatchObject({ verdict: 'ok', inbox: [{ fact: { kind: 'shape', change: 1 } }] });
    const { now } = await turn.store.ping();
    expect((await turn.store.getInstance(TENANT, held.instanceId))?.dueAt).toBe(now);
  });

  it('of two authors that knew the same list the one that waited has to look again', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const id = await start(first.store);
    await first.begin();
    await accept(first.store, id);
    const pending = accept(second.store, id);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'stale' });
    expect(await changesOf(second.store, id)).toHaveLength(1);
  });

  it('an injection of a step that waited for one from outside is refused with its result [OP-12]', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await author.begin();
    await accept(author.store, held.instanceId);
    const shape = ownInjection();
    const pending = commitOne(turn.store, turnOf(held, { strict: true, rows: [row()], instance: { shape } }));
    await turn.untilBlocked();
    await author.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    expect(await turn.store.listOutputs(TENANT, held.instanceId, { node: true, retry: true })).toEqual([]);
    expect(await changesOf(turn.store, held.instanceId)).toHaveLength(1);
  });

  it('an author that waited for the injection of a step has to look again [OP-12]', async () => {
    const [author, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.begin();
    const shape = ownInjection();
    await commitOk(turn.store, turnOf(held, { strict: true, rows: [row()], instance: { shape } }));
    const pending = accept(author.store, held.instanceId);
    await author.untilBlocked();
    await turn.commit();
    expect(await pending).toEqual({ status: 'stale' });
    expect(await accept(author.store, held.instanceId, INJECT, 1)).toMatchObject({ number: 2 });
  });

  it('a deletion that waited for a migration to the sequence leaves it [VER-5]', async () => {
    const [author, remover] = [await sessions.open(), await sessions.open()];
    const id = await start(author.store);
    const sequenceId = await publish(author.store);
    await author.begin();
    await accept(author.store, id, { kind: 'migrate', sequenceId, replaced: [] });
    const pending = remover.store.deleteSequence(TENANT, sequenceId);
    await remover.untilBlocked();
    await author.commit();
    expect(await pending).toBe('in_use');
  });

  it('a migration that waited for the deletion of its target is told that it is gone [VER-5]', async () => {
    const [author, remover] = [await sessions.open(), await sessions.open()];
    const id = await start(author.store);
    const sequenceId = await publish(author.store);
    await remover.begin();
    expect(await remover.store.deleteSequence(TENANT, sequenceId)).toBe('deleted');
    const pending = accept(author.store, id, { kind: 'migrate', sequenceId, replaced: [] });
    await author.untilBlocked();
    await remover.commit();
    expect(await pending).toEqual({ status: 'no_sequence' });
  });

  it('prunes that wait for each other leave the newest checkpoints (20.6)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const instanceId = await start(first.store);
    for (const data of [1, 2, 3, 4]) {
      await first.store.addCheckpoint({ tenantId: TENANT, instanceId, id: nextId(), data });
    }
    await first.begin();
    expect(await first.store.pruneCheckpoints(TENANT, instanceId, 2)).toBe(2);
    const pending = second.store.pruneCheckpoints(TENANT, instanceId, 2);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toBe(0);
    const left = await first.store.listCheckpoints(TENANT, instanceId, 10);
    expect(left?.map(({ data }) => data)).toEqual([4, 3]);
  });
});
