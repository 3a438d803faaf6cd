import { type Json, jsonBytes } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { GoBack } from '../../core/run/changes.ts';
import type { Frame } from '../../core/run/frame.ts';
import type { NewRow } from '../../core/run/output-row.ts';
import type { CurrentStep, InstancePatch, TurnCommit } from '../../ports/store/turn.ts';
import { addTakes, allSucceeded, encodeOutcome, succeededHandlers } from './limits-payload.ts';
import { storeFrame } from './rows.ts';

/** Elements of a stored list per row of externalized_state. */
const PIECE_LENGTH = 64;

interface Payload {
  readonly turns: object[];
  readonly rows: object[];
  readonly frames: object[];
  readonly gone: object[];
  readonly done: object[];
  readonly takes: object[];
  readonly more: Map<string, object[]>;
}

/**
 * The argument of commit_turn_v1 and commit_turns_v1. Parts that no turn has are left out altogether, and so is every
 * member that says nothing: the functions do only what the payload names.
 */
export function encodeTurns(turns: readonly TurnCommit[]): string {
  const payload: Payload = {
    turns: [],
    rows: [],
    frames: [],
    gone: [],
    done: [],
    takes: [],
    more: new Map(),
  };
  turns.forEach((turn, i) => {
    payload.turns.push(encodeTurn(turn));
    addRows(payload, turn, i);
    addFrames(payload, turn, i);
    for (const done of turn.inboxDone) payload.done.push({ i, ...done });
    if (hasMore(turn)) addMore(payload, turn, i);
    if (turn.frames.some(({ takes }) => takes !== undefined)) addTakes(payload, turn, i);
  });
  const ends = turns.some(
    ({ settle }) => settle !== null && settle.afterEnd !== true && isTerminal(settle.state),
  );
  const outside = turns.find((turn) => turn.outside !== undefined)?.outside;
  const touches =
    ends || outside !== undefined || turns.some(({ childrenCancelled }) => childrenCancelled.length > 0);
  return JSON.stringify({
    turns: payload.turns,
    ...nonEmpty({
      rows: payload.rows,
      frames: payload.frames,
      gone: payload.gone,
      done: payload.done,
      takes: payload.takes,
    }),
    ...(payload.more.size === 0 ? {} : { more: Object.fromEntries(payload.more) }),
    ...(ends ? { ends } : {}),
    ...(touches ? { touches } : {}),
    // A turn with such a part goes alone: the function refuses it among others.
    ...(outside === undefined ? {} : { outside: nonEmpty({ ...outside }) }),
  });
}

/** Written member by member, without objects in between: this runs once per step. */
function encodeTurn(turn: TurnCommit): object {
  const encoded: Record<string, unknown> = {
    tenantId: turn.tenantId,
    instanceId: turn.instanceId,
    epoch: turn.epoch,
    leaseToken: turn.leaseToken,
    rev: turn.rev,
    runNo: turn.runNo,
    seenSeq: turn.seenSeq,
  };
  if (turn.strict) encoded['strict'] = true;
  if (turn.protectedResult) encoded['protected'] = true;
  if (turn.hasResult) encoded['hasResult'] = true;
  if (turn.rows.length > 0 || turn.kv.length > 0) encoded['history'] = true;
  if (hasProgress(turn)) encoded['progress'] = true;
  if (turn.stepsDelta !== 0) encoded['steps'] = turn.stepsDelta;
  addColumns(encoded, turn.instance);
  addRoot(encoded, turn);
  if (turn.outcomes.length > 0 && allSucceeded(turn)) encoded['ok'] = succeededHandlers(turn);
  if (turn.settle !== null) encoded['settle'] = encodeSettle(turn.settle);
  return encoded;
}

function addColumns(encoded: Record<string, unknown>, columns: InstancePatch): void {
  const { currentStep } = columns;
  if (currentStep !== undefined) encoded['current'] = encodeCurrentStep(currentStep);
  // Most steps change nothing else.
  if (currentStep === undefined || Object.keys(columns).length > 1) addOtherColumns(encoded, columns);
}

function addOtherColumns(encoded: Record<string, unknown>, columns: InstancePatch): void {
  const { dataSet, dataRemoved, currentStep: _, data, shape: _shape, sequenceId: _to, ...patch } = columns;
  if (data !== undefined) encoded['data'] = data;
  if (dataSet !== undefined && Object.keys(dataSet).length > 0) encoded['dataSet'] = dataSet;
  if (dataRemoved !== undefined && dataRemoved.length > 0) encoded['dataRemoved'] = dataRemoved;
  if (Object.keys(patch).length > 0) encoded['patch'] = patch;
}

/** As a list: this is written with every step. */
function encodeCurrentStep({ blockId, startedAt, attempt, resource }: CurrentStep): readonly Json[] {
  if (resource !== undefined && resource !== null) return [blockId, startedAt, attempt, resource];
  return attempt === 0 ? [blockId, startedAt] : [blockId, startedAt, attempt];
}

/** Anything that lasts. A turn that only settles has done nothing but hold a lease (RULINGS B7). */
function hasProgress(turn: TurnCommit): boolean {
  if (turn.stepsDelta > 0 || turn.rows.length > 0 || turn.frames.length > 0) return true;
  const parts: readonly (readonly unknown[])[] = [
    turn.supersede,
    turn.framesDeleted,
    turn.inboxDone,
    turn.kv,
    turn.values,
    turn.tasksCreated,
    turn.tasksClosed,
    turn.childrenStarted,
    turn.childrenCancelled,
    columnsThatLast(turn.instance),
  ];
  return parts.some((part) => part.length > 0);
}

function columnsThatLast(patch: InstancePatch): readonly string[] {
  return Object.keys(patch).filter((column) => column !== 'state' && column !== 'currentStep');
}

function encodeSettle({
  afterEnd,
  failure,
  nextFireAt,
  dueAt,
  openWaits,
  state,
}: NonNullable<TurnCommit['settle']>): object {
  return {
    // Without a state it is no end: nothing is taken along, and a fact that came in is looked at.
    ...(afterEnd === true ? {} : { state }),
    ...(nextFireAt === null ? {} : { nextFireAt }),
    ...(dueAt === null ? {} : { dueAt }),
    ...(openWaits === 0 ? {} : { openWaits }),
    ...(failure === null ? {} : { failure }),
  };
}

function isRoot(ref: { readonly blockId: string }): boolean {
  return ref.blockId === '';
}

/** The root frame is a column of the instance, so that a step of a flat run writes one row there and one output. */
function addRoot(encoded: Record<string, unknown>, turn: TurnCommit): void {
  const write = turn.frames.find(({ frame }) => isRoot(frame));
  if (write === undefined) {
    if (turn.framesDeleted.some(isRoot)) encoded['rootGone'] = true;
    return;
  }
  const { frame, intent, held } = write;
  // Without its leaf an intent is the frame; so it is with nearly every step.
  if (intent === null || held !== undefined || frame.leaf !== null) encoded['root'] = storeFrame(frame);
  if (intent !== null) encoded['rootIntent'] = storeFrame(intent);
  if (held !== undefined) encoded['rootHeld'] = storeFrame(held);
}

function addFrames(payload: Payload, turn: TurnCommit, i: number): void {
  for (const { frame, intent, held } of turn.frames) {
    if (isRoot(frame)) continue;
    payload.frames.push({
      ...encodeFrame(frame, i),
      ...(intent === null ? {} : { intent: storeFrame(intent) }),
      ...(held === undefined ? {} : { held: storeFrame(held) }),
    });
  }
  for (const { blockId, branch, iteration } of turn.framesDeleted) {
    if (blockId !== '') payload.gone.push({ i, blockId, branch: branch ?? -1, iteration });
  }
}

/** A frame of the turn at place `i` that is not the root list's. */
export function encodeFrame(frame: Frame, i: number): object {
  const { blockId, branch, iteration } = frame;
  return { i, blockId, branch: branch ?? -1, iteration, frame: storeFrame(frame) };
}

function addRows(payload: Payload, turn: TurnCommit, i: number): void {
  turn.rows.forEach((row, n) => payload.rows.push(encodeRow(row, i, n)));
}

/** A row of the turn at place `i`, with its ordinal; what is 0 or empty is left out. */
export function encodeRow(row: NewRow, i: number, n: number): object {
  const encoded: Record<string, unknown> = {
    i,
    id: row.id,
    blockId: row.blockId,
    kind: row.kind,
    output: row.output,
    size: row.bytes ?? jsonBytes(row.output),
  };
  if (n !== 0) encoded['n'] = n;
  if (row.iteration !== '') encoded['iteration'] = row.iteration;
  if (row.attempt !== 0) encoded['attempt'] = row.attempt;
  if (row.startedAt !== null) encoded['startedAt'] = row.startedAt;
  if (row.runNo !== undefined) encoded['runNo'] = row.runNo;
  return encoded;
}

/** True when a turn writes anything besides rows, frames and columns: few steps do. */
function hasMore(turn: TurnCommit): boolean {
  const lasting = turn.supersede.length + turn.kv.length + turn.values.length;
  const others = turn.tasksCreated.length + turn.tasksClosed.length + turn.childrenStarted.length;
  const told = turn.childrenCancelled.length + turn.audit.length + turn.journal.length + turn.logs.length;
  if (lasting + others + told > 0 || turn.instance.shape !== undefined) return true;
  return turn.goBack !== undefined || turn.webhooks !== undefined || !allSucceeded(turn);
}

function addMore(payload: Payload, turn: TurnCommit, i: number): void {
  const add = (name: string, items: readonly object[]): void => {
    if (items.length === 0) return;
    const list = payload.more.get(name) ?? [];
    for (const item of items) list.push({ i, ...item });
    payload.more.set(name, list);
  };
  add('supersede', turn.supersede);
  add('kv', turn.kv);
  add('values', turn.values.flatMap(inPieces));
  add('tasksCreated', turn.tasksCreated);
  add('tasksClosed', turn.tasksClosed);
  add('shapes', shapesOf(turn.instance));
  add('children', turn.childrenStarted);
  add('cancels', turn.childrenCancelled);
  add('audit', turn.audit);
  add('journal', turn.journal);
  add('logs', turn.logs);
  add('goBack', (turn.goBack ?? []).map(encodeGoBack));
  if (!allSucceeded(turn)) add('outcomes', turn.outcomes.map(encodeOutcome));
  add('webhooks', turn.webhooks ?? []);
}

/** A list is stored in pieces, so that reading some of its elements costs the same however long it is. */
function inPieces({ key, value }: { readonly key: string; readonly value: Json }): object[] {
  if (!Array.isArray(value) || value.length === 0) return [{ key, first: 0, data: value }];
  const pieces: object[] = [];
  for (let first = 0; first < value.length; first += PIECE_LENGTH) {
    pieces.push({ key, first, data: value.slice(first, first + PIECE_LENGTH) });
  }
  return pieces;
}

function shapesOf({ shape, sequenceId }: InstancePatch): object[] {
  if (shape === undefined) return [];
  return [{ ...shape, ...(sequenceId === undefined ? {} : { sequenceId }) }];
}

function nonEmpty(parts: Readonly<Record<string, readonly unknown[]>>): object {
  return Object.fromEntries(Object.entries(parts).filter(([, list]) => list.length > 0));
}

function encodeGoBack({ superseded, signals }: GoBack): object {
  return { rows: superseded.map(({ blockId, rev, ordinal }) => [blockId, rev, ordinal]), signals };
}
