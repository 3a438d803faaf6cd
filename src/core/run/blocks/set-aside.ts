import type { Draft } from '../draft.ts';
import type { FailedItem } from '../fan-out-knowledge.ts';
import { errorSummary, failedLeaves } from '../failures.ts';
import { type FanOutDetail, type Frame, frameKey } from '../frame.ts';
import { indexOf } from '../item-frames.ts';
import { isInsideFrame } from '../place.ts';
import { reopenFrames } from '../retry-run.ts';
import { type StoredItem, asJson, asStoredItem } from './rows.ts';

/** Digits of an index in a key, so that keys sort as indexes do. */
const INDEX_DIGITS = 6;

/**
 * Keeps the frames of a failed item under a key of its own. They are no part of the frontier any more, so that a turn does
 * not read them again, however many items have failed.
 */
export function storeFailed(draft: Draft, key: string, item: Frame): void {
  const below = [...draft.frames.values()].filter((frame) => isInsideFrame(draft, frame, item));
  const [leaf] = failedLeaves(draft, item);
  const error = leaf === undefined ? { message: 'the item failed' } : errorSummary(leaf);
  draft.knowledge.fanOut.setFailure(frameKey({ ...item, branch: null }), indexOf(item), error);
  const value: StoredItem = {
    runId: draft.record.runId,
    error,
    frames: [item, ...below],
  };
  draft.push('values', { key: failedItemKey(key, indexOf(item)), value: asJson(value) });
}

/** Opens a failed item again where it stood, as a retry of the instance opens everything else. */
export function takeBackFailed(draft: Draft, owner: Frame, failed: FailedItem): Frame | null {
  const stored = asStoredItem(failed.value);
  for (const frame of stored.frames) {
    draft.put(frame);
    draft.lostCalls.fresh(frameKey(frame));
  }
  reopenFrames(draft, stored.frames, stored.runId);
  const key = frameKey({ blockId: owner.blockId, branch: failed.index, iteration: owner.iteration });
  return draft.frames.get(key) ?? null;
}

/** Where an item may be stored that failed in this run or in an earlier one, and that no retry has opened again. */
export function keysOfFailed({ failedKey, again }: FanOutDetail, index: number): readonly string[] {
  const keys = [{ key: failedKey, from: 0 }, ...again].filter(({ from }) => index >= from);
  return keys.map(({ key }) => failedItemKey(key, index));
}

export function failedItemKey(key: string, index: number): string {
  return `${key}:${String(index).padStart(INDEX_DIGITS, '0')}`;
}

export function indexOfKey(key: string): number {
  return Number(key.slice(-INDEX_DIGITS));
}
