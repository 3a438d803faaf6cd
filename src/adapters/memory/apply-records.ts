import { jsonBytes } from '../../core/json.ts';
import { type Frame, frameKey } from '../../core/run/frame.ts';
import { heldLeaf } from '../../core/run/limits/held-leaf.ts';
import type { TakeAnswer } from '../../core/run/limits/takes.ts';
import type { NewRow } from '../../core/run/output-row.ts';
import type { FrameWrite, SupersedeRows, TurnCommit } from '../../ports/store/turn.ts';
import { type Tx, closeFact } from './database.ts';
import { queueWebhooks } from './outbox.ts';
import { type InstanceRow, type StoredOutput, stored } from './rows.ts';

/**
 * Takes rows of earlier commits out of the lists, then adds the new ones. Answers the instant of the newest row.
 * Instants never go back within an instance, so that (created_at, id) and (rev, ordinal) agree (RULINGS A35).
 */
export function applyRows(
  tx: Tx,
  row: InstanceRow,
  turn: TurnCommit,
  at: { readonly rev: number; readonly runNo: number },
): number {
  for (const rule of turn.supersede) supersede(tx, turn, rule, at.runNo);
  if (turn.rows.length === 0) return row.lastRowAt;
  const createdAt = Math.max(tx.t, row.lastRowAt);
  turn.rows.forEach((newRow, ordinal) => {
    const { bytes = jsonBytes(newRow.output), ...kept } = newRow;
    const output: StoredOutput = {
      ...stored(kept),
      instanceId: row.id,
      runNo: newRow.runNo ?? at.runNo,
      rev: at.rev,
      ordinal,
      outputSize: bytes,
      createdAt,
      supersededBy: null,
    };
    addRow(tx, output);
  });
  return createdAt;
}

/** Adds a live row. */
export function addRow(tx: Tx, row: StoredOutput): void {
  const key = uniqueKey(row, row.runNo);
  const { outputKeys, outputs } = tx.db;
  if (outputKeys.of(row.instanceId).has(key) || outputs.of(row.instanceId).has(row.id)) {
    throw new Error(`The row ${key} is there already.`);
  }
  outputKeys.of(row.instanceId).put(key, row.id);
  outputs.of(row.instanceId).put(row.id, Object.freeze(row));
}

function supersede(tx: Tx, turn: TurnCommit, rule: SupersedeRows, runNo: number): void {
  const { instanceId } = turn;
  if (rule.unlessStored?.some((key) => tx.db.values.of(instanceId).has(key)) === true) return;
  const live = liveRows(tx, instanceId).filter((row) => rule.blockIds.includes(row.blockId));
  const newest = new Map<string, string>();
  for (const row of live) {
    if (rule.kinds.includes(row.kind)) newest.set(row.blockId, row.id);
  }
  for (const row of live) {
    const kept = rule.keepLatest && newest.get(row.blockId) === row.id;
    if (kept || !rule.kinds.includes(row.kind) || !isWithin(row.iteration, rule.iteration)) continue;
    takeOut(tx, row, runNo);
  }
}

/** Takes a row out of the lists, in the name of a run. */
export function takeOut(tx: Tx, row: StoredOutput, runNo: number): void {
  tx.db.outputs.of(row.instanceId).put(row.id, Object.freeze({ ...row, supersededBy: runNo }));
  tx.db.outputKeys.of(row.instanceId).remove(uniqueKey(row, row.runNo));
}

/** The empty path encloses all passes. */
function isWithin(iteration: string, outer: string | null): boolean {
  return outer === null || outer === '' || iteration === outer || iteration.startsWith(`${outer}/`);
}

/** Oldest first by (rev, ordinal), which is the order in which they were added. */
export function liveRows(tx: Tx, instanceId: string): StoredOutput[] {
  return tx.db.outputs
    .of(instanceId)
    .values()
    .filter((row) => row.supersededBy === null);
}

/** RULINGS A35: one row per (run, block, pass, kind, attempt) and one `result` per (run, block, pass) among live rows. */
function uniqueKey(row: NewRow, runNo: number): string {
  const { blockId, iteration, kind } = row;
  // A run has a trace of each signal.
  if (blockId === '_interceptor:on_signal') return row.id;
  return JSON.stringify([runNo, blockId, iteration, kind, kind === 'result' ? 0 : row.attempt]);
}

/** `taken` has the word of limits on each intent that asked for something, in order. */
export function applyFrames(
  tx: Tx,
  turn: TurnCommit,
  granted: boolean,
  taken: readonly TakeAnswer[] = [],
): void {
  const answers = [...taken];
  const frames = tx.db.frames.of(turn.instanceId);
  for (const ref of turn.framesDeleted) frames.remove(frameKey(ref));
  for (const write of turn.frames) {
    const answer = write.takes === undefined ? undefined : answers.shift();
    frames.put(frameKey(write.frame), stored(granted ? begun(write, answer) : write.frame));
  }
}

/** The frame of a write whose intents hold, as limits let it begin. */
function begun({ frame, intent, takes, held }: FrameWrite, answer: TakeAnswer | undefined): Frame {
  if (intent === null) return frame;
  if (answer?.granted !== false) return withTaken(intent, answer);
  if (takes === undefined || held === undefined || held.leaf === null) return frame;
  const leaf = heldLeaf(held.leaf, takes, answer);
  return leaf === null ? frame : { ...held, leaf };
}

function withTaken(intent: Frame, answer: TakeAnswer | undefined): Frame {
  if (answer?.granted !== true || intent.leaf === null) return intent;
  return { ...intent, leaf: { ...intent.leaf, taken: { ...intent.leaf.taken, ...answer.taken } } };
}

/** Inbox, key/value store, stored collections, audit log, journal and step logs. */
export function applySideRecords(tx: Tx, row: InstanceRow, turn: TurnCommit): void {
  const { db, t } = tx;
  for (const { seq, disposition } of turn.inboxDone) closeFact(tx, row.id, seq, disposition);
  for (const write of turn.kv) {
    if ('deleted' in write) db.kv.of(row.id).remove(write.key);
    else db.kv.of(row.id).put(write.key, stored(write.value));
  }
  for (const { key, value } of turn.values) {
    if (db.values.of(row.id).has(key)) throw new Error(`The value ${key} is stored already.`);
    db.values.of(row.id).put(key, stored(value));
  }
  for (const entry of turn.audit) {
    const written = { ...entry, instanceId: row.id, tenantId: row.tenantId, createdAt: t };
    db.audit.of(row.id).put(entry.id, stored({ ...written, eventType: 'state_transition' }));
  }
  for (const entry of turn.journal) db.journal.of(row.id).put(entry.id, stored({ ...entry, createdAt: t }));
  queueWebhooks(tx, row, turn);
  for (const line of turn.logs) db.logs.of(row.id).put(tx.newId(), stored(line));
}
