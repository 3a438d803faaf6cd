import { describe, expect, it } from 'vitest';
import { TENANT, auditEntry, frame, leaf, row, settleAs, turnOf } from '../support/turn-builder.ts';
import {
  claimRequest,
  commitOk,
  commitOne,
  reportOf,
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

  it('a look for silent workers passes over a task whose worker reports right now [CON-6] (RULINGS A16)', async () => {
    const [worker, sweep] = [await sessions.open(), await sessions.open()];
    const { id, taskId, claimEpoch } = await workerHasTask(worker.store, { atMostOnce: true });
    await worker.begin();
    expect(await worker.store.reportTask(reportOf(taskId, claimEpoch))).toMatchObject({ status: 'accepted' });
    await sweep.store.releaseSilentTasks(0, 100);
    await worker.commit();
    await sweep.store.releaseSilentTasks(0, 100);
    expect(await sweep.store.getTask(null, taskId)).toMatchObject({ state: 'completed' });
    expect((await sweep.store.getFrontier(null, id))?.inbox).toHaveLength(1);
  });

  it('a report that waited for the look that gave its task up is stale, and the run hears one thing [CON-6] [WRK-6]', async () => {
    const [sweep, worker] = [await sessions.open(), await sessions.open()];
    const { id, taskId, claimEpoch } = await workerHasTask(sweep.store, { atMostOnce: true });
    await sweep.begin();
    await sweep.store.releaseSilentTasks(0, 100);
    const late = worker.store.reportTask(reportOf(taskId, claimEpoch));
    await worker.untilBlocked();
    await sweep.commit();
    expect(await late).toEqual({ status: 'stale' });
    const inbox = (await worker.store.getFrontier(null, id))?.inbox ?? [];
    expect(inbox.map(({ fact }) => fact)).toMatchObject([{ taskId, outcome: { silent: true } }]);
  });

  it('a look for silent workers waits for nobody who holds the instance [CON-6] (RULINGS A16)', async () => {
    const [sender, sweep] = [await sessions.open(), await sessions.open()];
    const { id, taskId } = await workerHasTask(sender.store, { atMostOnce: true });
    await sender.begin();
    await sender.store.signal(signalOf(id));
    await sweep.store.releaseSilentTasks(0, 100);
    expect(await sweep.store.getTask(null, taskId)).toMatchObject({ state: 'claimed' });
    await sender.commit();
    await sweep.store.releaseSilentTasks(0, 100);
    expect(await sweep.store.getTask(null, taskId)).toMatchObject({ state: 'failed' });
    expect((await sweep.store.getFrontier(null, id))?.inbox).toHaveLength(2);
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
});
