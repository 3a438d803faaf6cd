import { isTerminal } from '../../core/run/states.ts';
import type { Fact, Settle } from '../../ports/store/turn.ts';
import { cancelChild } from './apply-children.ts';
import { closeTask } from './apply-tasks.ts';
import { type Tx, closeFact, openInbox, openTasks, saveInstance } from './database.ts';
import { type InstanceRow, type StoredFact, stored } from './rows.ts';
import { withoutLease } from './suspects.ts';
import { acceptFact } from './wake.ts';

/** Ends the turn: state, due time, lease. A fact that came in meanwhile makes the instance due at once (RULINGS A5). */
export function settleTurn(tx: Tx, id: string, settle: Settle): void {
  const row = tx.db.instances.get(id);
  if (row === undefined) return;
  const ended = isTerminal(settle.state) && settle.afterEnd !== true;
  const woken = !ended && row.wakeSeq > row.seenSeq;
  const settled = saveInstance(tx, {
    ...withoutLease(row),
    // A turn that ends clears the instance, unless it was alone before and nothing has come of it yet.
    company: row.recoveryCount > 0 ? row.company : null,
    state: settle.state,
    nextFireAt: settle.nextFireAt,
    dueAt: woken ? tx.t : settle.dueAt,
    openWaits: settle.openWaits,
    seenSeq: ended ? row.wakeSeq : row.seenSeq,
    failure: settle.afterEnd === true ? row.failure : stored(settle.failure),
  });
  if (ended) endInstance(tx, settled);
}

/** [INS-14]: tasks close, children get a cancel ([SUB-9]), facts behind a cancel expire ([SIG-8]), the parent wakes. */
function endInstance(tx: Tx, row: InstanceRow): void {
  for (const task of openTasks(tx.db, row.id)) if (task.ofHook !== true) closeTask(tx, task, 'cancelled');
  for (const childId of tx.db.children.of(row.id).values()) cancelChild(tx, row, childId, tx.newId());
  for (const fact of openInbox(tx.db, row.id)) expire(tx, row.id, fact);
  wakeParent(tx, row);
}

/** The journal says what became of a signal ([AUD-2]). */
function expire(tx: Tx, instanceId: string, { seq, id: signalId, fact }: StoredFact): void {
  closeFact(tx, instanceId, seq, 'expired');
  if (fact.kind !== 'signal') return;
  const id = tx.newId();
  const details = { signal_id: signalId, signal_type: fact.signalType, disposition: 'expired' };
  tx.db.journal.of(instanceId).put(id, { id, kind: 'signal', details, createdAt: tx.t });
}

/** [SUB-8]: in the transaction in which the child ends. A parent that has ended is not changed ([SUB-10]). */
function wakeParent(tx: Tx, child: InstanceRow): void {
  const { parent, state } = child;
  if (parent === null || !isTerminal(state)) return;
  const row = tx.db.instances.get(parent.instanceId);
  if (row === undefined || isTerminal(row.state)) return;
  const error = child.failure?.error ?? null;
  const fact: Fact = { kind: 'child', childId: child.id, blockId: parent.blockId, state, error };
  acceptFact(tx, row, { id: tx.newId(), fact, moves: true });
}
