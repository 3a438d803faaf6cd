import { type Frame, frameKey } from './frame.ts';
import { indexOf, itemFrames } from './item-frames.ts';
import { passPath } from './plan.ts';
import { type InnerList, restOfList } from './rest-of-list.ts';

/**
 * The body of a `for_each` that fans out, as one of its items shows it: the item that was asked for, else the first that is
 * open, else the one that decided the end, else the last. `asked` is a path such as `each:17`.
 */
export function itemList(frames: ReadonlyMap<string, Frame>, own: Frame, asked: string | null): InnerList {
  const { detail } = own;
  if (detail.kind !== 'fan_out') throw new Error(`${own.blockId} does not fan out`);
  const index = askedIndex(own.blockId, own.iteration, asked) ?? shownIndex(frames, own);
  const iteration = passPath(own.iteration, own.blockId, index);
  const frame = frames.get(frameKey({ ...own, branch: index }));
  if (frame !== undefined) return { frame, iteration, rest: restOfList(frame, 0) };
  const hasEnded = index < detail.next && detail.total > 0;
  return { frame: null, iteration, rest: hasEnded ? 'skipped' : restOfList(own, 0) };
}

function shownIndex(frames: ReadonlyMap<string, Frame>, own: Frame): number {
  const items = itemFrames(frames.values(), own);
  const shown =
    items.find(({ state }) => state === 'open') ?? items.find(({ state }) => state === 'failed') ?? items[0];
  if (shown !== undefined) return indexOf(shown);
  return own.detail.kind === 'fan_out' ? Math.max(0, own.detail.next - 1) : 0;
}

/** The pass of a block that a path leads through; null when it leads elsewhere. */
export function askedIndex(blockId: string, iteration: string, asked: string | null): number | null {
  const start = passPath(iteration, blockId, 0).slice(0, -1);
  if (asked === null || !asked.startsWith(start)) return null;
  const index = Number.parseInt(asked.slice(start.length), 10);
  return Number.isNaN(index) ? null : index;
}
