import type { Block } from '../definition/document.ts';
import type { Scope } from '../expressions/scope.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Draft } from './draft.ts';
import { type Frame, type FrameDetail, type ListEnd, ROOT_KEY, frameKey } from './frame.ts';
import { nodeOutcome } from './node-outcome.ts';
import { bindItem, outputsAt } from './item-scopes.ts';
import {
  currentList,
  frameIsBelow,
  innerIteration,
  isJoined,
  lastPass,
  listsOf,
  outerIteration,
} from './plan.ts';
import { stepOn } from './run-order.ts';
import type { Standing } from './standing.ts';

/** A list that the walk stands in: its frame, the frames around it, and whether a cancel reaches it. */
export interface Place {
  readonly key: string;
  /** Keys of the enclosing list frames and this one, outermost first. */
  readonly path: readonly string[];
  /** Protected from cancel: an active scope, a finally list, a rollback (17.3). */
  readonly shielded: boolean;
}

/** `moved`: the cursor of the place went on, look again. */
export type Outcome = 'moved' | 'open' | 'failed' | 'cancelled';

/** Runs the list at a place; handed to the blocks so that they need not know the walk. */
export type RunList = (draft: Draft, place: Place) => ListEnd | 'open';

export const ROOT_PLACE: Place = { key: ROOT_KEY, path: [ROOT_KEY], shielded: false };

/** The frame at a place. Its absence is a defect of ours, which stops the instance and not the process. */
export function frameAt(draft: Draft, place: Place): Frame {
  const frame = draft.frames.get(place.key);
  if (frame === undefined) throw new Error(`no frame at ${JSON.stringify(place.path)}`);
  return frame;
}

/** True when a cancel stops what has not begun here. */
export function stopsHere(draft: Draft, place: Place): boolean {
  return draft.cancelling && !place.shielded;
}

/** The open frame of a composite at the cursor of `place`, made when there is none. */
export function openFrame(draft: Draft, place: Place, block: Block, detail: () => FrameDetail): Frame {
  const iteration = innerIteration(frameAt(draft, place));
  const known = draft.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  if (known !== undefined) return known;
  const frame: Frame = {
    blockId: block.id,
    branch: null,
    iteration,
    cursor: 0,
    leaf: null,
    detail: detail(),
    state: 'open',
    startedAt: draft.env.now,
  };
  draft.put(frame);
  draft.lostCalls.opened(place.key, frameKey(frame));
  return frame;
}

export function knownFrame(draft: Draft, place: Place, block: Block): Frame | undefined {
  const iteration = innerIteration(frameAt(draft, place));
  return draft.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
}

export function inside(place: Place, frame: Frame, shielded = false): Place {
  const key = frameKey(frame);
  return { key, path: [...place.path, key], shielded: place.shielded || shielded };
}

/** Moves the cursor of a list to its next element. */
export function moveOn(draft: Draft, key: string): void {
  const frame = draft.frames.get(key);
  if (frame !== undefined) draft.put(stepOn(frame, currentList(draft.plan, frame)));
}

/**
 * Ends a composite: writes its hidden node row and moves the enclosing list on. A block that failed or was cancelled
 * keeps its frames, so that a retry of the instance finds its place; they go when something absorbs the end.
 */
export function closeBlock(
  draft: Draft,
  place: Place,
  frame: Frame,
  end: ListEnd,
  error: Json | null = null,
): Outcome {
  addNodeRow(draft, frame, end, error);
  if (end !== 'drained') {
    draft.put({ ...frame, state: end });
    return end;
  }
  removeSubtree(draft, frame);
  moveOn(draft, place.key);
  return 'moved';
}

/** The hidden row that says how a composite ended. */
export function addNodeRow(draft: Draft, frame: Frame, end: ListEnd, error: Json | null = null): void {
  const block = draft.plan.nodes.get(frame.blockId)?.block;
  draft.addRow({
    blockId: frame.blockId,
    iteration: frame.iteration,
    kind: 'node',
    attempt: 0,
    output: nodeOutcome(frame, block === undefined ? 0 : listsOf(block).length, end, error),
    startedAt: frame.startedAt,
  });
}

/** Removes the frame of a composite and everything below it, without any effect on what hangs there. */
export function removeSubtree(draft: Draft, frame: Frame): void {
  removeBelow(draft, frame);
  draft.remove(frameKey(frame));
}

export function removeBelow(draft: Draft, frame: Frame): void {
  for (const [key, other] of [...draft.frames]) {
    if (isInsideFrame(draft, other, frame)) draft.remove(key);
  }
}

/** True when `other` lies below `frame` in the same pass. A branch frame holds only what is in its own branch. */
export function isInsideFrame(draft: Draft, other: Frame, frame: Frame): boolean {
  if (frame.detail.kind === 'root') return other.detail.kind !== 'root';
  const inPass = other.iteration === frame.iteration || other.iteration.startsWith(`${frame.iteration}/`);
  if (!(frame.iteration === '' || inPass) || !frameIsBelow(draft.plan, other, frame.blockId)) return false;
  if (frame.detail.kind === 'item') return isInPass(other, innerIteration(frame));
  if (frame.detail.kind !== 'branch') return true;
  return other.blockId !== frame.blockId && branchBelow(draft, other, frame.blockId) === frame.branch;
}

function isInPass(frame: Frame, pass: string): boolean {
  return frame.iteration === pass || frame.iteration.startsWith(`${pass}/`);
}

/** Index of the list of `ancestorId` in which a deeper frame lies. */
function branchBelow(draft: Draft, frame: Frame, ancestorId: string): number | null {
  let node = draft.plan.nodes.get(frame.blockId);
  while (node !== undefined && node.parentId !== ancestorId) {
    node = node.parentId === null ? undefined : draft.plan.nodes.get(node.parentId);
  }
  return node?.listIndex ?? null;
}

/** The place of a frame, found from below; for facts and results that arrive outside the walk. */
export function placeOf(draft: Draft, key: string): Place {
  if (key === ROOT_KEY && draft.frames.has(key)) return ROOT_PLACE;
  const chain: Frame[] = [];
  for (let frame = draft.frames.get(key); frame !== undefined; frame = parentOf(draft, frame)) {
    chain.unshift(frame);
  }
  return { key, path: chain.map(frameKey), shielded: chain.some(shields) };
}

/** True for a frame whose list a cancel does not reach. */
function shields(frame: Frame): boolean {
  if (frame.detail.kind === 'cancellation_scope') return true;
  if (frame.detail.kind === 'try_catch') return frame.detail.phase === 'finally';
  return frame.detail.kind === 'saga' && frame.detail.phase === 'rollback';
}

/** The frame above: of a branch its join, else the frame of the list in which the composite stands. */
export function parentOf(draft: Standing, frame: Frame): Frame | undefined {
  if (frame.detail.kind === 'root') return undefined;
  if (isJoined(frame)) return draft.frames.get(frameKey({ ...frame, branch: null }));
  const node = draft.plan.nodes.get(frame.blockId);
  if (node === undefined) return undefined;
  if (node.parentId === null) return draft.frames.get(ROOT_KEY);
  const parent = draft.plan.nodes.get(node.parentId);
  const kind = parent?.block.type;
  const branch = kind === 'parallel' || kind === 'race' ? node.listIndex : null;
  const passes = kind === 'loop' || kind === 'for_each';
  const iteration = passes ? outerIteration(frame.iteration, node.parentId) : frame.iteration;
  if (kind === 'for_each') {
    const item = frameKey({ blockId: node.parentId, branch: lastPass(frame.iteration), iteration });
    if (draft.frames.has(item)) return draft.frames.get(item);
  }
  return draft.frames.get(frameKey({ blockId: node.parentId, branch, iteration }));
}

/** What texts evaluated at a place see (expressions.md 1.1): the whole context, bindings and `_error` of the place. */
export function scopeAt(draft: Draft, place: Place, data: Json = draft.record.data): Scope {
  const { record, env } = draft;
  const { items, error } = place.key === ROOT_KEY ? NOTHING_BOUND : boundAt(draft, place);
  const scope = {
    data,
    config: record.config,
    outputs: outputsAt(draft, place),
    instanceId: record.id,
    runtime: draft.runtimeHere,
    state: draft.knowledge.knownState,
    items,
    now: draft.nowHere,
    random: env.random,
    uuid: env.uuid,
  };
  return error === null ? scope : { ...scope, error };
}

interface Bound {
  readonly items: ReadonlyMap<string, Json>;
  readonly error: JsonObject | null;
}

const NOTHING_BOUND: Bound = { items: new Map(), error: null };

function boundAt(draft: Draft, place: Place): Bound {
  const items = new Map<string, Json>();
  let error: JsonObject | null = null;
  for (const key of place.path) {
    const detail = draft.frames.get(key)?.detail;
    if (detail?.kind === 'for_each' && detail.inPass && detail.item !== undefined) {
      const block = draft.plan.nodes.get(draft.frames.get(key)?.blockId ?? '')?.block;
      if (block?.type === 'for_each') items.set(block.item_var, detail.item);
    }
    if (detail?.kind === 'item') bindItem(draft, key, items);
    if (detail?.kind === 'try_catch' && detail.phase !== 'try' && detail.error !== null) error = detail.error;
    if (detail?.kind === 'saga' && detail.phase === 'rollback' && detail.error !== null) error = detail.error;
  }
  return { items, error };
}
