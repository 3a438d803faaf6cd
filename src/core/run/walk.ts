import type { Block } from '../definition/document.ts';
import { runAbSplit } from './blocks/a-b-split.ts';
import { runCancellationScope } from './blocks/cancellation-scope.ts';
import { runForEach } from './blocks/for-each.ts';
import { runLoop } from './blocks/loop.ts';
import { runParallel } from './blocks/parallel.ts';
import { runRace } from './blocks/race.ts';
import { runRouter } from './blocks/router.ts';
import { runSaga } from './blocks/saga.ts';
import { runTryCatch } from './blocks/try-catch.ts';
import type { Draft } from './draft.ts';
import type { ListEnd } from './frame.ts';
import { cancelLeaf } from './cancel-subtree.ts';
import { runStep } from './leaf/step.ts';
import { runSubSequence } from './leaf/sub-sequence.ts';
import { type Outcome, type Place, ROOT_PLACE, frameAt, knownFrame, stopsHere } from './place.ts';
import { currentList } from './plan.ts';
import { hasBegun } from './reshape/has-begun.ts';

/** Rows after which a walk pauses so that they can be committed; nested empty loops would otherwise never come up. */
const ROWS_PER_WALK = 256;

/**
 * One round (sequences.md 7.4): visits every open list in document order and takes it as far as it goes. Leaves that
 * are to be called now are left in `draft.ready`; what has to be read first is noted in the draft's knowledge.
 */
export function walk(draft: Draft, options: { readonly room: number }): void {
  draft.ready = [];
  draft.room = options.room;
  draft.runnableLeft = false;
  draft.overLimit = null;
  draft.moved = false;
  draft.ensureRoot();
  const end = runList(draft, ROOT_PLACE);
  draft.rootEnd = end === 'open' ? null : end;
  draft.moved ||= draft.ready.length > 0 || draft.intents.asks;
}

/** The list rules ([LIST-1] to [LIST-5]). Everything of a list that has not begun stops at a cancel ([CAN-2]). */
function runList(draft: Draft, place: Place): ListEnd | 'open' {
  for (;;) {
    const frame = frameAt(draft, place);
    if (frame.state !== 'open') return frame.state;
    const block = currentList(draft.plan, frame)[frame.cursor];
    const stops = stopsHere(draft, place);
    if (block === undefined && !stops) return 'drained';
    if (block === undefined || (stops && !survivesCancel(draft, place, block))) {
      return endList(draft, place, 'cancelled');
    }
    if (draft.pendingRows.length > ROWS_PER_WALK) {
      draft.runnableLeft = true;
      return 'open';
    }
    const outcome = runBlock(draft, place, block);
    if (outcome === 'open') return 'open';
    if (outcome !== 'moved') return endList(draft, place, outcome);
  }
}

/** The frame of a list that failed or was cancelled stays until a block around it absorbs the end. */
function endList(draft: Draft, place: Place, end: 'failed' | 'cancelled'): ListEnd {
  draft.put({ ...frameAt(draft, place), state: end });
  return end;
}

/** At a cancel: a begun leaf that may be cancelled is; composites look after themselves; the rest never begins. */
function survivesCancel(draft: Draft, place: Place, block: Block): boolean {
  const frame = frameAt(draft, place);
  if (block.type !== 'step' && block.type !== 'sub_sequence')
    return knownFrame(draft, place, block) !== undefined;
  const began = frame.leaf !== null || draft.inFlight.has(place.key);
  if (!began) return false;
  if (frame.leaf?.state === 'failed') return true;
  if (block.type === 'step' && !block.cancellable) return true;
  cancelLeaf(draft, place.key, block);
  return false;
}

/** Nothing begins until a change of what the run is made of has been taken up. */
function waitsForChange(draft: Draft, place: Place, block: Block): boolean {
  const { isDue, isHeld } = draft.shape;
  if (!(isDue || isHeld) || draft.cancelling) return false;
  return !hasBegun(draft, frameAt(draft, place), block);
}

function runBlock(draft: Draft, place: Place, block: Block): Outcome {
  if (waitsForChange(draft, place, block)) {
    draft.runnableLeft = true;
    return 'open';
  }
  switch (block.type) {
    case 'step':
      return runStep(draft, place, block);
    case 'sub_sequence':
      return runSubSequence(draft, place, block);
    case 'parallel':
      return runParallel(draft, place, block, runList);
    case 'race':
      return runRace(draft, place, block, runList);
    case 'router':
      return runRouter(draft, place, block, runList);
    case 'a_b_split':
      return runAbSplit(draft, place, block, runList);
    case 'try_catch':
      return runTryCatch(draft, place, block, runList);
    case 'loop':
      return runLoop(draft, place, block, runList);
    case 'for_each':
      return runForEach(draft, place, block, runList);
    case 'cancellation_scope':
      return runCancellationScope(draft, place, block, runList);
    case 'saga':
      return runSaga(draft, place, block, runList);
  }
}
