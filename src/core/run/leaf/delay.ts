import { delayTarget } from '../../calendar/delay-target.ts';
import { nextOpening } from '../../calendar/send-window.ts';
import type { StepBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { passesTime } from '../passes-time.ts';
import { type Place, frameAt } from '../place.ts';

/**
 * [DELAY-1], [DELAY-5]: the target is computed once per pass and kept on the leaf. True when the step has to wait. A dry
 * run does not wait ([DRY-3]).
 */
export function startDelay(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): boolean {
  if (block.delay === undefined || passesTime(draft)) return false;
  const { now, random } = draft.env;
  const { timezone, config } = draft.record;
  const holidays = config['holidays'] ?? null;
  const target = delayTarget({ delay: block.delay, base: now, timezone, holidays, random });
  if (target <= now) return false;
  draft.putLeaf(frameAt(draft, place), { ...leaf, state: 'waiting', reason: 'delay', wakeAt: target });
  return true;
}

/**
 * [WIN-2]: true when the step has to wait until its send window opens. A dry run does not wait ([DRY-3]), nor does a step
 * whose wait a person has ended.
 */
export function waitForWindow(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): boolean {
  if (block.send_window === undefined || leaf.offWindow === true || passesTime(draft)) return false;
  const { now } = draft.env;
  const opening = nextOpening(block.send_window, now, draft.record.timezone);
  if (opening <= now) return false;
  draft.putLeaf(frameAt(draft, place), { ...leaf, state: 'waiting', reason: 'send_window', wakeAt: opening });
  return true;
}

/** The leaf as it waits for something else than its window: what comes after that asks the window anew (8.1, 5). */
export function withinWindow(leaf: Leaf): Leaf {
  const { offWindow: _, ...rest } = leaf;
  return rest;
}
