import { EMPTY } from '../blocks/fan-out-detail.ts';
import { FRESH as FRESH_SAGA } from '../blocks/saga.ts';
import { FRESH as FRESH_TRY } from '../blocks/try-catch.ts';
import type { Json } from '../../json.ts';
import { type Frame, type FrameDetail, ROOT_KEY, frameKey } from '../frame.ts';
import { branchFrame, itemFrame, rootFrame } from '../fresh-frames.ts';
import type { Level, Target } from './target.ts';

/** Reads an item of a stored collection; undefined when it has to be read first. */
export type ItemOf = (snapshotKey: string, index: number) => Json | undefined;

/**
 * The frames of a run that stands at a target: what was folded from the rows that stay, with the lists around the target
 * open. A block around it that has nothing behind it left no row; it is open at its start all the same, and so is a pass
 * that was begun: its condition is not asked again. null: an item has to be read first.
 */
export function framesAt(
  target: Target,
  folded: readonly Frame[],
  { itemOf, now, runNo }: { readonly itemOf: ItemOf; readonly now: number; readonly runNo: number },
): ReadonlyMap<string, Frame> | null {
  const frames = new Map(folded.map((frame) => [frameKey(frame), frame]));
  frames.set(ROOT_KEY, frames.get(ROOT_KEY) ?? rootFrame(now));
  for (const [depth, inner] of target.levels.entries()) {
    const outer = target.levels[depth - 1];
    if (outer === undefined) continue;
    const own = ownFrame(frames, outer, inner, now);
    const detail = openDetail(own.detail, inner, { itemOf, runNo });
    if (detail === null) return null;
    frames.set(frameKey(own), { ...own, detail });
    for (const list of listFrames(own, inner, now)) {
      if (!frames.has(frameKey(list))) frames.set(frameKey(list), list);
    }
  }
  return frames;
}

function ownFrame(
  frames: ReadonlyMap<string, Frame>,
  { block, iteration }: Level,
  inner: Level,
  now: number,
): Frame {
  const known = frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  if (known !== undefined) return known;
  const list = { blockId: block.id, branch: null, iteration, cursor: 0, leaf: null, startedAt: now };
  return { ...list, detail: freshDetail(inner), state: 'open' };
}

/** A composite that was entered, and in which nothing has ended before the target. */
function freshDetail({ owner, listIndex }: Level): FrameDetail {
  switch (owner?.type) {
    case 'parallel':
    case 'race':
      return { kind: owner.type, ends: owner.branches.map(() => null) };
    case 'router':
      return { kind: 'router', route: listIndex };
    case 'a_b_split':
      return { kind: 'a_b_split', variant: listIndex };
    case 'loop':
      return { kind: 'loop', passes: 0, inPass: true, pollUntil: null };
    case 'try_catch':
      return FRESH_TRY;
    case 'saga':
      return FRESH_SAGA;
    case 'for_each':
      return EMPTY;
    case 'cancellation_scope':
    case 'step':
    case 'sub_sequence':
    case undefined:
      return { kind: 'cancellation_scope' };
  }
}

/** The pass that the target stands in is open. */
function openDetail(
  detail: FrameDetail,
  { pass }: Level,
  { itemOf, runNo }: { readonly itemOf: ItemOf; readonly runNo: number },
): FrameDetail | null {
  switch (detail.kind) {
    case 'loop':
      return { ...detail, inPass: true, pollUntil: null };
    case 'for_each': {
      const { snapshotKey, index } = detail;
      const item = snapshotKey === null ? null : itemOf(snapshotKey, index);
      return item === undefined ? null : { ...detail, inPass: true, item };
    }
    case 'fan_out': {
      const failedKey = `${detail.snapshotKey ?? ''}.failed.${runNo}`;
      return { ...detail, next: Math.max(detail.next, (pass ?? 0) + 1), failedKey };
    }
    case 'a_b_split':
    case 'branch':
    case 'cancellation_scope':
    case 'item':
    case 'parallel':
    case 'race':
    case 'root':
    case 'router':
    case 'saga':
    case 'try_catch':
      return detail;
  }
}

/** The frame of the target's branch, or those of the items up to the target's, at their start. */
function listFrames(own: Frame, { listIndex, pass, hasItemFrames }: Level, now: number): readonly Frame[] {
  const { detail } = own;
  if (detail.kind === 'parallel' || detail.kind === 'race') return [branchFrame(own, listIndex)];
  if (!hasItemFrames || detail.kind !== 'fan_out') return [];
  const last = pass ?? 0;
  const first = Math.min(last, detail.next);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    itemFrame(own, first + index, { kind: 'item' }, now),
  );
}
