import type { TakeAnswer } from '../../core/run/limits/takes.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { CommitAnswer, TurnCommit, TurnVerdict } from '../../ports/store/turn.ts';
import { applyChildren } from './apply-children.ts';
import { applyOutside, outsideHolds } from './apply-outside.ts';
import { patchInstance } from './apply-instance.ts';
import { applyFrames, applyRows, applySideRecords } from './apply-records.ts';
import { applyTasks } from './apply-tasks.ts';
import { releaseSlot } from './concurrency.ts';
import { applyGoBack } from './go-back.ts';
import { type Tx, findInstance, saveInstance } from './database.ts';
import { openBreakers, takeAll, tellBreaker } from './limits.ts';
import type { InstanceRow } from './rows.ts';
import { settleTurn } from './settle.ts';
import { applyShape } from './shape.ts';
import { inboxAbove } from './wake.ts';

/** Applies the turns in their order. A payload that a constraint refuses throws, and then nothing is applied. */
export function commitTurns(tx: Tx, turns: readonly TurnCommit[]): CommitAnswer {
  if (new Set(turns.map((turn) => turn.instanceId)).size !== turns.length) {
    throw new Error('A batch holds at most one commit of an instance (RULINGS A14).');
  }
  if (turns.length > 1 && turns.some(({ outside }) => outside !== undefined)) {
    throw new Error('A turn that reaches beyond its instance goes alone (RULINGS A15).');
  }
  return { now: tx.t, verdicts: turns.map((turn) => commitTurn(tx, turn)) };
}

function commitTurn(tx: Tx, turn: TurnCommit): TurnVerdict {
  const row = findInstance(tx.db, turn.tenantId, turn.instanceId);
  if (row === null || row.epoch !== turn.epoch) return { verdict: 'fenced' };
  if (isRepeat(row, turn)) {
    const inbox = inboxAbove(tx, row.id, turn.seenSeq);
    return { verdict: 'already', granted: row.committedGranted, inbox, ...takenOf(row.committedTaken ?? []) };
  }
  if (row.leaseToken !== turn.leaseToken) return { verdict: 'fenced' };
  const message = findDefect(row, turn);
  if (message !== null) return { verdict: 'bug', message };
  if (isRefused(tx, row, turn)) return { verdict: 'refused' };
  const odd = findOddFact(tx, row, turn);
  if (odd !== undefined) return { verdict: 'bug', message: `inbox row ${odd} is not open` };
  if (!outsideHolds(tx, row, turn)) return { verdict: 'refused' };
  return applyTurn(tx, row, turn);
}

/** The same bytes again, also after the settle in them gave the lease back (RULINGS A8). */
function isRepeat(row: InstanceRow, turn: TurnCommit): boolean {
  return row.rev === turn.rev + 1 && row.committedToken === turn.leaseToken;
}

function findDefect(row: InstanceRow, turn: TurnCommit): string | null {
  if (turn.rev !== row.rev) return `rev ${turn.rev} does not fit, the instance is at ${row.rev}`;
  if (turn.runNo !== row.runNo) return `run ${turn.runNo} is not the present run ${row.runNo}`;
  if (turn.seenSeq > row.wakeSeq) return `seq ${turn.seenSeq} was never given out`;
  const { newRun, state } = turn.instance;
  if (newRun !== undefined && newRun.runNo !== row.runNo + 1) return `run ${newRun.runNo} skips a number`;
  if (state !== undefined && isTerminal(state) && turn.settle?.state !== state) {
    return `the state ${state} needs a settle`;
  }
  return null;
}

/** A fact that the turn says it has processed, but had not seen, or that is not open, or that it names twice. */
function findOddFact(tx: Tx, row: InstanceRow, turn: TurnCommit): number | undefined {
  const open = new Set(inboxAbove(tx, row.id, 0).map((fact) => fact.seq));
  return turn.inboxDone.find(({ seq }) => seq > seenBy(row, turn) || !open.delete(seq))?.seq;
}

/**
 * RULINGS A10 to A12. An end other than a cancel acts on the absence of facts even when the turn does not say so: an
 * accepted fact is never dropped. What was refused behind a cancel is kept for compensation.
 */
function isRefused(tx: Tx, row: InstanceRow, turn: TurnCommit): boolean {
  const seenSeq = seenBy(row, turn);
  if (row.cancelSeq !== null && seenSeq < row.cancelSeq && !turn.protectedResult) {
    for (const { blockId, iteration, attempt, output } of turn.rows.filter(({ kind }) => kind === 'result')) {
      const id = tx.newId();
      const details = { block_id: blockId, iteration, attempt, output };
      tx.db.journal.of(row.id).put(id, { id, kind: 'unknown_outcome', details, createdAt: tx.t });
    }
    return true;
  }
  const { settle } = turn;
  const ends = settle?.afterEnd !== true && (settle?.state === 'completed' || settle?.state === 'failed');
  return (turn.strict || ends) && row.wakeSeq > seenSeq;
}

/** A turn that was given no facts says 0, also when earlier turns have consumed some. */
function seenBy(row: InstanceRow, turn: TurnCommit): number {
  return Math.max(row.seenSeq, turn.seenSeq);
}

function applyTurn(tx: Tx, before: InstanceRow, turn: TurnCommit): TurnVerdict {
  applyOutside(tx, before, turn);
  const row = tx.db.instances.get(before.id) ?? before;
  const seenSeq = seenBy(row, turn);
  const granted = row.wakeSeq <= seenSeq;
  const rev = row.rev + 1;
  const runNo = turn.instance.newRun?.runNo ?? row.runNo;
  const lastRowAt = applyRows(tx, row, turn, { rev, runNo });
  for (const outcome of turn.outcomes) tellBreaker(tx, row.tenantId, row.id, outcome);
  const taken = granted ? takeAll(tx, turn) : [];
  applyFrames(tx, turn, granted, taken);
  applySideRecords(tx, row, turn);
  applyTasks(tx, row, turn);
  const patched = saveInstance(tx, {
    ...applyShape(tx, patchInstance(row, turn), turn),
    rev,
    seenSeq,
    lastRowAt,
    hasHistory: row.hasHistory || turn.rows.length > 0 || turn.kv.length > 0,
    recoveryCount: turn.hasResult || turn.instance.newRun !== undefined ? 0 : row.recoveryCount,
    claimsWithoutProgress: hasProgress(turn) ? 0 : row.claimsWithoutProgress,
    takenOver: false,
    company: turn.instance.newRun === undefined ? row.company : null,
    committedToken: turn.leaseToken,
    committedGranted: granted,
    committedTaken: taken,
  });
  applyChildren(tx, patched, turn);
  if (turn.settle !== null) settleTurn(tx, patched.id, turn.settle);
  applyGoBack(tx, turn, runNo);
  const leaves = row.state === 'running' && tx.db.instances.get(row.id)?.state !== 'running';
  const nextOfKey = leaves ? releaseSlot(tx, patched) : null;
  const inbox = inboxAbove(tx, row.id, turn.seenSeq);
  const more = { ...takenOf(taken), ...openBreakers(tx, row.tenantId) };
  return { verdict: 'ok', granted, inbox, ...more, ...(nextOfKey === null ? {} : { nextOfKey }) };
}

function takenOf(taken: readonly TakeAnswer[]): { readonly taken?: readonly TakeAnswer[] } {
  return taken.length === 0 ? {} : { taken };
}

/** Anything that lasts. A turn that only settles has done nothing but hold a lease (RULINGS B7). */
function hasProgress(turn: TurnCommit): boolean {
  const written = [
    turn.rows,
    turn.supersede,
    turn.frames,
    turn.framesDeleted,
    turn.inboxDone,
    turn.kv,
    turn.values,
    turn.tasksCreated,
    turn.tasksClosed,
    turn.childrenStarted,
    turn.childrenCancelled,
    Object.keys(turn.instance).filter((column) => column !== 'state' && column !== 'currentStep'),
  ];
  return turn.stepsDelta > 0 || written.some((part) => part.length > 0);
}
