import type { Emit, NewWait, OutgoingSignal, TakenEvents } from '../../core/run/outside.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';
import { type Tx, findInstance, saveInstance } from './database.ts';
import { consume, emitKey, matchEvent, pendingRows } from './events.ts';
import { type InstanceRow, type WaitRow, stored } from './rows.ts';
import { newInstanceRow } from './start.ts';
import { acceptSignal } from './wake.ts';

/** A dedupe key is remembered for 30 days ([EMIT-2]). */
const EMIT_RECORD_MS = 30 * 24 * 60 * 60 * 1000;

/** False when something is not as the turn saw it: then the commit is refused. */
export function outsideHolds(tx: Tx, row: InstanceRow, { outside, settle }: TurnCommit): boolean {
  if (outside === undefined) return true;
  const ends = settle !== null && isTerminal(settle.state);
  const keys = outside.emits.flatMap(({ dedupe }) =>
    dedupe === null ? [] : [emitKey(row.tenantId, dedupe)],
  );
  return (
    outside.signals.every((signal) => canSignal(tx, row, signal, ends)) &&
    outside.emits.every(({ sequenceId }) => tx.db.sequences.get(sequenceId)?.tenantId === row.tenantId) &&
    new Set(keys).size === keys.length &&
    keys.every((key) => (tx.db.emitRecords.get(key)?.expiresAt ?? 0) <= tx.t) &&
    outside.takes.every(({ eventIds }) => eventIds.every((id) => tx.db.events.get(id)?.status === 'pending'))
  );
}

function canSignal(tx: Tx, row: InstanceRow, signal: OutgoingSignal, ends: boolean): boolean {
  const target = findInstance(tx.db, row.tenantId, signal.instanceId);
  if (target === null) return false;
  if (tx.db.inbox.of(target.id).has(signal.signalId)) return true;
  return !isTerminal(target.state) && !(ends && target.id === row.id);
}

/** Before the decision about the intents: what the run sends to itself comes first. */
export function applyOutside(tx: Tx, row: InstanceRow, { outside }: TurnCommit): void {
  if (outside === undefined) return;
  for (const { instanceId, signalId, signalType, payload } of stored(outside.signals)) {
    const target = findInstance(tx.db, row.tenantId, instanceId);
    if (target === null || tx.db.inbox.of(instanceId).has(signalId)) continue;
    acceptSignal(tx, target, { id: signalId, signalType, payload });
  }
  for (const emit of outside.emits) startEmitted(tx, row.tenantId, stored(emit));
  for (const id of outside.waitsClosed) {
    const wait = tx.db.waits.get(id);
    if (wait?.instanceId === row.id) tx.db.waits.put(id, Object.freeze({ ...wait, open: false }));
  }
  for (const wait of outside.waits) register(tx, row, wait);
  for (const taken of outside.takes) take(tx, row, taken);
}

/** [EMIT-1]: it hangs on nobody. */
function startEmitted(tx: Tx, tenantId: string, emit: Emit): void {
  const { instanceId, sequenceName } = emit;
  if (emit.dedupe !== null) {
    const record = { instanceId, sequenceName, expiresAt: tx.t + EMIT_RECORD_MS };
    tx.db.emitRecords.put(emitKey(tenantId, emit.dedupe), Object.freeze(record));
  }
  saveInstance(
    tx,
    newInstanceRow(tx, {
      id: instanceId,
      runId: emit.runId,
      tenantId,
      namespace: emit.namespace,
      sequenceId: emit.sequenceId,
      priority: 1,
      timezone: 'UTC',
      metadata: emit.metadata,
      data: emit.data,
      config: {},
      audit: [],
      nextFireAt: null,
      concurrencyKey: null,
      maxConcurrency: null,
      idempotencyKey: null,
      sessionId: null,
      budget: null,
      dryRun: false,
      dryRunAutoApprove: false,
      originalInput: emit.data,
    }),
  );
}

function waitRow(tx: Tx, row: InstanceRow, wait: NewWait): WaitRow {
  if (tx.db.waits.has(wait.id)) throw new Error(`The wait ${wait.id} is there already.`);
  const { id, blockId, iteration, names, correlationKey, join, needed } = wait;
  const of = { id, blockId, iteration, names, correlationKey, join, needed };
  return { ...stored(of), tenantId: row.tenantId, instanceId: row.id, matchedNames: [], open: true };
}

/** It takes what is pending already, oldest first ([WAIT-2]). */
function register(tx: Tx, row: InstanceRow, wait: NewWait): void {
  let current = Object.freeze(waitRow(tx, row, wait));
  tx.db.waits.put(current.id, current);
  for (const event of pendingRows(tx, { ...wait, tenantId: row.tenantId })) {
    if (!current.open) break;
    if (current.join === 'all' && current.matchedNames.includes(event.eventName)) continue;
    current = matchEvent(tx, current, event);
  }
}

/** [WAIT-7]. */
function take(tx: Tx, row: InstanceRow, taken: TakenEvents): void {
  const events = taken.eventIds.flatMap((id) => tx.db.events.get(id) ?? []);
  const matchedNames = events.map(({ eventName }) => eventName);
  tx.db.waits.put(taken.id, Object.freeze({ ...waitRow(tx, row, taken), matchedNames, open: false }));
  events.forEach((event, index) => consume(tx, taken.id, event, index));
}
