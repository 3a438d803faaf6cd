import { describe, expect, it } from 'vitest';
import {
  TENANT,
  auditEntry,
  frame,
  leaf,
  newInstance,
  nextId,
  row,
  settleAs,
  turnOf,
} from '../support/turn-builder.ts';
import {
  claimRequest,
  commitOk,
  commitOne,
  family,
  reportOf,
  request,
  signalOf,
  start,
  startClaimed,
  workerHasTask,
} from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

/** A fact from outside against a turn, in both orders: one of them waits, and nothing is lost (RULINGS A4 to A12). */
describe('facts against turns', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('a settle that waited for a signal leaves the instance due at once (RULINGS A5)', async () => {
    const [sender, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await sender.begin();
    await sender.store.signal(signalOf(held.instanceId));
    const pending = commitOne(turn.store, turnOf(held, { settle: settleAs('paused') }));
    await turn.untilBlocked();
    await sender.commit();
    expect(await pending).toMatchObject({ verdict: 'ok', inbox: [{ seq: 1 }] });
    const { now } = await turn.store.ping();
    expect(await turn.store.getInstance(null, held.instanceId)).toMatchObject({
      state: 'paused',
      dueAt: now,
    });
  });

  it('a signal that waited for a settle wakes the settled instance (RULINGS A4)', async () => {
    const [turn, sender] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { settle: settleAs('waiting', { openWaits: 1 }) }));
    const pending = sender.store.signal(signalOf(held.instanceId));
    await sender.untilBlocked();
    await turn.commit();
    expect(await pending).toMatchObject({ status: 'accepted', held: false });
    const { now } = await turn.store.ping();
    expect(await sender.store.getInstance(null, held.instanceId)).toMatchObject({
      state: 'waiting',
      dueAt: now,
    });
  });

  it('signals that wait for each other are numbered in the order of their locks (RULINGS A4)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const id = await start(first.store);
    const [one, two] = [signalOf(id), signalOf(id)];
    await first.begin();
    await first.store.signal(two);
    const pending = second.store.signal(one);
    await second.untilBlocked();
    await first.commit();
    await pending;
    const frontier = await first.store.getFrontier(null, id);
    expect(frontier?.inbox.map((fact) => [fact.seq, fact.id])).toEqual([
      [1, two.signalId],
      [2, one.signalId],
    ]);
  });

  it('a commit that waited for a signal stores its result and keeps its intent back (RULINGS A9)', async () => {
    const [sender, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    const without = frame({ cursor: 1 });
    const intent = frame({ cursor: 1, leaf: leaf({ dispatchedAt: 9 }) });
    await sender.begin();
    await sender.store.signal(signalOf(held.instanceId));
    const pending = commitOne(
      turn.store,
      turnOf(held, { rows: [row()], frames: [{ frame: without, intent }] }),
    );
    await turn.untilBlocked();
    await sender.commit();
    expect(await pending).toMatchObject({ verdict: 'ok', granted: false, inbox: [{ seq: 1 }] });
    expect((await turn.store.getFrontier(null, held.instanceId))?.frames).toEqual([without]);
    expect(await turn.store.listOutputs(null, held.instanceId, { node: true, retry: true })).toHaveLength(1);
  });

  it('a commit that waited for a cancel is refused whole, and its result is kept aside (RULINGS A10)', async () => {
    const [sender, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await sender.begin();
    await sender.store.signal(signalOf(held.instanceId, 'cancel'));
    const charge = row({ blockId: 'charge', output: { paid: true } });
    const pending = commitOne(turn.store, turnOf(held, { rows: [charge], stepsDelta: 1 }));
    await turn.untilBlocked();
    await sender.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
    expect(await turn.store.getInstance(null, held.instanceId)).toMatchObject({
      rev: 0,
      totalSteps: 0,
      epoch: held.epoch,
    });
    expect(
      await turn.rows('SELECT kind, details FROM stepwell.journal WHERE instance_id = $1', [held.instanceId]),
    ).toEqual([
      {
        kind: 'unknown_outcome',
        details: { block_id: 'charge', iteration: '', attempt: 0, output: { paid: true } },
      },
    ]);
  });

  it('a timer that waited for a signal loses: its strict commit is refused (RULINGS A11)', async () => {
    const [sender, turn] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await sender.begin();
    await sender.store.signal(signalOf(held.instanceId));
    const pending = commitOne(turn.store, turnOf(held, { strict: true, rows: [row({ kind: 'breach' })] }));
    await turn.untilBlocked();
    await sender.commit();
    expect(await pending).toEqual({ verdict: 'refused' });
  });

  it('a timer that came first wins: the signal waits and finds it done (RULINGS A11)', async () => {
    const [turn, sender] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(turn.store);
    await turn.begin();
    await commitOk(turn.store, turnOf(held, { strict: true, rows: [row({ kind: 'breach' })] }));
    const pending = sender.store.signal(signalOf(held.instanceId));
    await sender.untilBlocked();
    await turn.commit();
    expect(await pending).toMatchObject({ status: 'accepted' });
    expect(await turn.store.listOutputs(null, held.instanceId, { node: true, retry: true })).toHaveLength(1);
  });

  it('an end that waited for a signal is refused, a signal that waited for the end is told so (RULINGS A12)', async () => {
    const [one, other] = [await sessions.open(), await sessions.open()];
    const held = await startClaimed(one.store);
    const ending = turnOf(held, {
      audit: [auditEntry('running', 'completed')],
      settle: settleAs('completed'),
    });
    await other.begin();
    await other.store.signal(signalOf(held.instanceId));
    const refused = commitOne(one.store, ending);
    await one.untilBlocked();
    await other.commit();
    expect(await refused).toEqual({ verdict: 'refused' });

    await one.begin();
    await commitOk(one.store, { ...ending, seenSeq: 1, inboxDone: [{ seq: 1, disposition: 'no_effect' }] });
    const late = other.store.signal(signalOf(held.instanceId));
    await other.untilBlocked();
    await one.commit();
    expect(await late).toEqual({ status: 'terminal', state: 'completed' });
  });

  it('a report that waited for the end of its instance is stale (RULINGS A12) [WRK-6]', async () => {
    const [turn, worker] = [await sessions.open(), await sessions.open()];
    const { id, taskId, claimEpoch } = await workerHasTask(turn.store);
    const answer = await turn.store.claimOne({ ...claimRequest(id), mode: 'operator' });
    if (answer.status !== 'claimed') throw new Error(answer.status);
    await turn.begin();
    await commitOk(
      turn.store,
      turnOf(answer.claim, { audit: [auditEntry('waiting', 'cancelled')], settle: settleAs('cancelled') }),
    );
    const late = worker.store.reportTask(reportOf(taskId, claimEpoch));
    await worker.untilBlocked();
    await turn.commit();
    expect(await late).toEqual({ status: 'stale' });
    const events = await worker.store.listTaskEvents(null, taskId, 10);
    expect(events?.map(({ event }) => event)).toEqual(['claimed', 'cancelled', 'stale_mutation_rejected']);
  });

  it('two reports of one task are one fact: the second waited and is stale [WRK-6]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const { id, taskId, claimEpoch } = await workerHasTask(first.store);
    await first.begin();
    expect(await first.store.reportTask(reportOf(taskId, claimEpoch))).toMatchObject({ status: 'accepted' });
    const twin = second.store.reportTask(reportOf(taskId, claimEpoch));
    await second.untilBlocked();
    await first.commit();
    expect(await twin).toEqual({ status: 'stale' });
    expect((await first.store.getFrontier(null, id))?.inbox).toHaveLength(1);
  });

  it('two polls never get the same task [WRK-3]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const { taskId } = await workerHasTask(first.store);
    const [given] = await first.rows('SELECT handler_name FROM stepwell.worker_tasks WHERE id = $1', [
      taskId,
    ]);
    await first.rows("UPDATE stepwell.worker_tasks SET state = 'pending' WHERE id = $1", [taskId]);
    const poll = { tenantId: TENANT, handlerName: String(given?.['handler_name']), version: null, limit: 5 };
    await first.begin();
    expect(await first.store.pollTasks({ ...poll, workerId: 'a' })).toHaveLength(1);
    expect(await second.store.pollTasks({ ...poll, workerId: 'b' })).toEqual([]);
    await first.rollback();
    expect(await second.store.pollTasks({ ...poll, workerId: 'b' })).toHaveLength(1);
  });

  it('a child that ends while its parent cancels it waits and is refused (RULINGS A16)', async () => {
    const [above, below] = [await sessions.open(), await sessions.open()];
    const { parent, child } = await family(above.store);
    await above.begin();
    await commitOk(
      above.store,
      turnOf(parent, { childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }] }),
    );
    const ending = turnOf(child, {
      audit: [auditEntry('running', 'completed')],
      settle: settleAs('completed'),
    });
    const late = commitOne(below.store, ending);
    await below.untilBlocked();
    await above.commit();
    expect(await late).toEqual({ verdict: 'refused' });
  });

  it('a parent that cancels a child which is just ending waits, and the end reaches it (RULINGS A16, A17)', async () => {
    const [above, below] = [await sessions.open(), await sessions.open()];
    const { parent, child } = await family(above.store);
    await below.begin();
    await commitOk(
      below.store,
      turnOf(child, { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') }),
    );
    const cancelling = turnOf(parent, {
      childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }],
    });
    const pending = commitOne(above.store, cancelling);
    await above.untilBlocked();
    await below.commit();
    expect(await pending).toMatchObject({
      verdict: 'ok',
      inbox: [{ fact: { kind: 'child', state: 'completed' } }],
    });
    expect((await below.store.getFrontier(null, child.instanceId))?.inbox).toEqual([]);
  });

  it('families that end and cancel at the same time never deadlock (RULINGS A16)', async () => {
    const before = await sessions.deadlockCount();
    const [above, below] = [await sessions.open(), await sessions.open()];
    for (let round = 0; round < 30; round += 1) {
      const { parent, child } = await family(above.store);
      const cancel = turnOf(parent, {
        childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }],
      });
      const end = turnOf(child, {
        audit: [auditEntry('running', 'completed')],
        settle: settleAs('completed'),
      });
      const parentEnds = turnOf(parent, {
        audit: [auditEntry('running', 'failed')],
        settle: settleAs('failed'),
      });
      const [upper, lower] = await Promise.all([
        commitOne(above.store, round % 2 === 0 ? cancel : parentEnds),
        commitOne(below.store, end),
      ]);
      // Exactly one came first: the child's end reached the parent, or the cancel reached the child.
      if (lower.verdict === 'ok') expect(['ok', 'refused']).toContain(upper.verdict);
      else expect([upper.verdict, lower.verdict]).toEqual(['ok', 'refused']);
    }
    expect(await sessions.deadlockCount()).toBe(before);
  });

  it('the last slot of a key goes to one of two claims (RULINGS A31)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const keyed = { concurrencyKey: `depot-${nextId()}`, maxConcurrency: 1 };
    const [one, two] = [await start(first.store, keyed), await start(first.store, keyed)];
    await first.begin();
    expect(await first.store.claimOne(claimRequest(one))).toMatchObject({ status: 'claimed' });
    const pending = second.store.claimOne(claimRequest(two));
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'not_due' });
    expect(await second.store.getInstance(null, two)).toMatchObject({ state: 'scheduled', epoch: 0 });
  });

  it('two starts with one key make one instance; when the first is undone the second makes it (RULINGS A36)', async () => {
    for (const outcome of ['commit', 'rollback'] as const) {
      const [first, second] = [await sessions.open(), await sessions.open()];
      const key = { idempotencyKey: `order-${nextId()}` };
      const [one, two] = [newInstance(key), newInstance(key)];
      await first.begin();
      await first.store.start({ instances: [one], onKnownKey: 'first' });
      const pending = second.store.start({ instances: [two], onKnownKey: 'first' });
      await second.untilBlocked();
      await first[outcome]();
      const expected =
        outcome === 'commit' ? { id: one.id, deduplicated: true } : { id: two.id, deduplicated: false };
      expect(await pending).toMatchObject({ status: 'ok', started: [expected] });
    }
  });

  it('two signals with one id are one; the second is a repeat (RULINGS A36)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const signal = signalOf(await start(first.store));
    await first.begin();
    await first.store.signal(signal);
    const pending = second.store.signal(signal);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'repeated', signalId: signal.signalId });
    const { claims } = await second.store.claimDue(request());
    expect(claims.find(({ instanceId }) => instanceId === signal.instanceId)?.inbox).toHaveLength(1);
  });

  it('two deliveries of one webhook start one instance (RULINGS B21)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const delivery = { slug: 'orders', deliveryId: nextId() };
    const one = newInstance();
    await first.begin();
    await first.store.start({ instances: [one], onKnownKey: 'first', delivery });
    const pending = second.store.start({ instances: [newInstance()], onKnownKey: 'first', delivery });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'ok', started: [{ id: one.id, deduplicated: true }] });
  });

  it('a nonce is good for one of two requests', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const nonce = { slug: 'orders', nonce: nextId() };
    await first.begin();
    await first.store.start({ instances: [newInstance()], onKnownKey: 'first', nonce });
    const pending = second.store.start({ instances: [newInstance()], onKnownKey: 'first', nonce });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'nonce_used' });
  });
});
