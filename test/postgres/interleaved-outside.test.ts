import { describe, expect, it } from 'vitest';
import type { Outside } from '../../src/core/run/outside.ts';
import { TENANT, auditEntry, nextId, row, sequence, settleAs, turnOf } from '../support/turn-builder.ts';
import { commitOk, commitOne, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const NOTHING: Outside = { signals: [], emits: [], waits: [], waitsClosed: [], takes: [] };

const signals = (instanceId: string): Outside => ({
  ...NOTHING,
  signals: [{ instanceId, signalId: nextId(), signalType: 'custom:go', payload: null }],
});

/** Commits that touch other instances, step by step on a real server (RULINGS A12, A15, A16). */
describe('commits that reach beyond their instance', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('a signal that waited for the end of its target is refused with the whole commit (RULINGS A12)', async () => {
    const [ending, sender] = [await sessions.open(), await sessions.open()];
    const target = await startClaimed(ending.store);
    const claim = await startClaimed(sender.store);
    await ending.begin();
    const end = { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') };
    await commitOk(ending.store, turnOf(target, end));
    const pending = commitOne(
      sender.store,
      turnOf(claim, { rows: [row()], outside: signals(target.instanceId) }),
    );
    await sender.untilBlocked();
    await ending.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    expect(await sender.store.getInstance(null, claim.instanceId)).toMatchObject({ rev: 0 });
    expect(await sender.store.listOutputs(null, claim.instanceId, { node: true, retry: true })).toEqual([]);
  });

  it('an end that waited for a signal is refused: nothing accepted is dropped (RULINGS A12)', async () => {
    const [sender, ending] = [await sessions.open(), await sessions.open()];
    const target = await startClaimed(ending.store);
    const claim = await startClaimed(sender.store);
    await sender.begin();
    await commitOk(sender.store, turnOf(claim, { rows: [row()], outside: signals(target.instanceId) }));
    const end = { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') };
    const pending = commitOne(ending.store, turnOf(target, end));
    await ending.untilBlocked();
    await sender.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
  });

  it('two runs that signal each other at once do not lock each other up (RULINGS A16)', async () => {
    const [one, other, holder] = [await sessions.open(), await sessions.open(), await sessions.open()];
    const [left, right] = [await startClaimed(one.store), await startClaimed(other.store)];
    const before = await sessions.deadlockCount();
    await holder.begin();
    await holder.rows('SELECT 1 FROM stepwell.task_instances WHERE id = ANY ($1) ORDER BY id FOR UPDATE', [
      [left.instanceId, right.instanceId],
    ]);
    const first = commitOne(one.store, turnOf(left, { rows: [row()], outside: signals(right.instanceId) }));
    const second = commitOne(
      other.store,
      turnOf(right, { rows: [row()], outside: signals(left.instanceId) }),
    );
    await one.untilBlocked();
    await other.untilBlocked();
    await holder.commit();
    expect([await first, await second]).toMatchObject([{ verdict: 'ok' }, { verdict: 'ok' }]);
    expect(await sessions.deadlockCount()).toBe(before);
    for (const { instanceId } of [left, right]) {
      expect((await one.store.getFrontier(null, instanceId))?.inbox).toHaveLength(1);
    }
  });

  it('of two emits with one key of the tenant the second waits and is refused [EMIT-2]', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const target = sequence({ name: `target-${nextId()}` });
    await one.store.insertSequence(target);
    const dedupe = { scope: '', key: `k-${nextId()}` };
    const emit = () => ({
      instanceId: nextId(),
      runId: nextId(),
      namespace: 'fulfilment',
      sequenceId: target.id,
      sequenceName: target.name,
      data: {},
      metadata: {},
      dedupe,
    });
    const [first, second] = [emit(), emit()];
    const [left, right] = [await startClaimed(one.store), await startClaimed(other.store)];
    await one.begin();
    await commitOk(one.store, turnOf(left, { outside: { ...NOTHING, emits: [first] } }));
    const pending = commitOne(other.store, turnOf(right, { outside: { ...NOTHING, emits: [second] } }));
    await other.untilBlocked();
    await one.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    expect(await other.store.getInstance(null, second.instanceId)).toBeNull();
    expect(await other.store.emitRecord(TENANT, dedupe)).toMatchObject({ instanceId: first.instanceId });
  });
});
