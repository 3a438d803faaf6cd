import type { Frame } from './frame.ts';

/** The frames of the items of a `for_each` that fans out, by index: open ones, and those that a failure has left behind. */
export function itemFrames(frames: Iterable<Frame>, owner: Frame): readonly Frame[] {
  const items: Frame[] = [];
  for (const frame of frames) {
    if (
      frame.detail.kind === 'item' &&
      frame.blockId === owner.blockId &&
      frame.iteration === owner.iteration
    ) {
      items.push(frame);
    }
  }
  return items.sort((left, right) => indexOf(left) - indexOf(right));
}

/** Index of the item of a frame of kind `item`. */
export function indexOf(item: Frame): number {
  return item.branch ?? 0;
}
