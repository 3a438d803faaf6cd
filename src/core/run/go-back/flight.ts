import { releaseWait } from '../cancel-subtree.ts';
import type { Draft } from '../draft.ts';
import { type Frame, frameKey } from '../frame.ts';
import { indexOf } from '../item-frames.ts';
import { isInsideFrame } from '../place.ts';
import { currentList, isJoin } from '../plan.ts';
import type { StandsAt } from './stand-at.ts';
import type { Target } from './target.ts';

export interface Overlaid {
  readonly frames: ReadonlyMap<string, Frame>;
  /** Those that are as they were: what they wait for is waited for on. */
  readonly flight: ReadonlyMap<string, Frame>;
}

/**
 * The frames after going back, with what is in flight beside the target: a branch or an item that is open goes on where
 * it stands, with its worker task, its gate or its timer, which no row knows of.
 */
export function overlay(draft: Draft, { target, frames, isAhead }: StandsAt): Overlaid {
  if (isAhead && draft.frames.size > 0) return { frames: draft.frames, flight: draft.frames };
  const heads = headsBeside(draft, target);
  const isInFlight = (frame: Frame): boolean =>
    heads.some((head) => frameKey(head) === frameKey(frame) || isInsideFrame(draft, frame, head));
  const flight = new Map([...draft.frames].filter(([, frame]) => isInFlight(frame)));
  const folded = [...frames].filter(([, frame]) => !isInFlight(frame));
  const owners = folded.map(([key, frame]) => [key, openedUpTo(frame, heads)] as const);
  return { frames: new Map([...owners, ...flight]), flight };
}

/** Items in flight have been opened, although no row may say so. */
function openedUpTo(owner: Frame, heads: readonly Frame[]): Frame {
  const { detail, blockId, iteration } = owner;
  if (detail.kind !== 'fan_out') return owner;
  const open = heads.filter((head) => head.blockId === blockId && head.iteration === iteration);
  const next = Math.max(detail.next, ...open.map((item) => indexOf(item) + 1));
  return { ...owner, detail: { ...detail, next } };
}

/**
 * Branches and items beside the target that are not over. One in which something failed during a pause is over, too: no
 * walk has seen yet what becomes of it, and what has failed begins again.
 */
function headsBeside(draft: Draft, target: Target): readonly Frame[] {
  return target.levels.flatMap((level, depth) => {
    const iteration = target.levels[depth - 1]?.iteration ?? '';
    const owner = draft.frames.get(frameKey({ blockId: level.owner?.id ?? '', branch: null, iteration }));
    if (level.owner === null || owner === undefined || owner.state !== 'open' || !isJoin(owner)) return [];
    // Of items that run one after the other, those that are open come after the target's.
    if (level.hasItemFrames && !level.isConcurrent) return [];
    const own = level.hasItemFrames ? level.pass : level.listIndex;
    return [...draft.frames.values()].filter(
      (frame) =>
        frame.blockId === owner.blockId &&
        frame.iteration === owner.iteration &&
        frame.branch !== null &&
        frame.branch !== own &&
        frame.state === 'open' &&
        frame.cursor < currentList(draft.plan, frame).length &&
        !holdsFailure(draft, frame),
    );
  });
}

function holdsFailure(draft: Draft, head: Frame): boolean {
  return [...draft.frames.values()].some(
    (frame) =>
      frame.state === 'open' &&
      frame.leaf?.state === 'failed' &&
      (frameKey(frame) === frameKey(head) || isInsideFrame(draft, frame, head)),
  );
}

/** Puts the frames in the place of those that were there, and tells what was waited for that nobody waits any more. */
export function replaceFrames(
  draft: Draft,
  change: Overlaid & { readonly before: ReadonlyMap<string, Frame>; readonly oldRunId: string },
): void {
  const { before, frames, flight, oldRunId } = change;
  for (const [key, { leaf }] of before) {
    if (flight.has(key)) continue;
    if (leaf !== null) releaseWait(draft, leaf);
    if (!frames.has(key)) draft.remove(key);
  }
  for (const [key, frame] of frames) {
    const { leaf } = frame;
    if (!flight.has(key)) draft.put(frame);
    // The same attempt in a new run: what it is known by outside stays.
    else if (leaf !== null) draft.putLeaf(frame, { ...leaf, keyRunId: leaf.keyRunId ?? oldRunId });
  }
}
