import type { Json } from '../../core/json.ts';
import type { Fact, InboxRow, InstanceRecord } from '../../ports/store/turn.ts';
import { type Tx, openInbox, saveInstance } from './database.ts';
import { type InstanceRow, type StoredFact, stored } from './rows.ts';

/**
 * Accepts a fact: the wake touches the instance row first, then the fact goes to the inbox under the new seq (RULINGS
 * A4). The caller has checked the state.
 *
 * @param moves A worker's result, a child's end: a waiting or future-scheduled instance becomes scheduled at now
 *   ([SETTLE-2]). Signals and context patches leave the state alone ([SETTLE-3]).
 */
export function acceptFact(
  tx: Tx,
  row: InstanceRow,
  entry: { readonly id: string; readonly fact: Fact; readonly moves: boolean },
): InstanceRow {
  const seq = row.wakeSeq + 1;
  const woken = { ...row, wakeSeq: seq, dueAt: Math.min(row.dueAt ?? tx.t, tx.t) };
  const fact: StoredFact = {
    seq,
    id: entry.id,
    acceptedAt: tx.t,
    fact: stored(entry.fact),
    disposition: null,
    processedAt: null,
  };
  tx.db.inbox.of(row.id).put(entry.id, Object.freeze(fact));
  tx.db.inboxOpen.of(row.id).put(String(seq), entry.id);
  return saveInstance(tx, entry.moves ? moveToScheduled(tx, woken) : woken);
}

/** Under a lease the turn decides about the state; its settle sees the wake (RULINGS A5). */
function moveToScheduled(tx: Tx, row: InstanceRow): InstanceRow {
  if (row.leaseToken !== null) return row;
  const future = row.state === 'scheduled' && row.nextFireAt !== null && row.nextFireAt > tx.t;
  if (row.state !== 'waiting' && !future) return row;
  if (row.state === 'waiting') addTransition(tx, row, 'scheduled');
  return { ...row, state: 'scheduled', nextFireAt: tx.t };
}

/** A cancel sets `cancel_seq`; the epoch stays, the running turn's next commit is refused (RULINGS A10). */
export function acceptSignal(
  tx: Tx,
  row: InstanceRow,
  signal: { readonly id: string; readonly signalType: string; readonly payload: Json },
): InstanceRow {
  const fact: Fact = { kind: 'signal', signalType: signal.signalType, payload: signal.payload };
  const woken = acceptFact(tx, row, { id: signal.id, fact, moves: false });
  if (signal.signalType !== 'cancel' || woken.cancelSeq !== null) return woken;
  return saveInstance(tx, { ...woken, cancelSeq: woken.wakeSeq });
}

/** The audit row of a transition that the store makes itself ([INS-11], [AUD-1]). */
export function addTransition(tx: Tx, row: InstanceRow, toState: InstanceRecord['state']): void {
  const id = tx.newId();
  tx.db.audit.of(row.id).put(
    id,
    Object.freeze({
      id,
      instanceId: row.id,
      tenantId: row.tenantId,
      eventType: 'state_transition',
      fromState: row.state,
      toState,
      blockId: null,
      details: {},
      createdAt: tx.t,
    }),
  );
}

/** The unprocessed facts above `seenSeq`, as a turn is given them. */
export function inboxAbove(tx: Tx, instanceId: string, seenSeq: number): readonly InboxRow[] {
  return openInbox(tx.db, instanceId)
    .filter((fact) => fact.seq > seenSeq)
    .map(({ seq, id, acceptedAt, fact }) => ({ seq, id, acceptedAt, fact }));
}
