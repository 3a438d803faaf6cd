import type { StepBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { knows } from '../knows.ts';
import { type Outcome, type Place, frameAt, moveOn, scopeAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { breach, isBreached, startClock } from './deadline.ts';
import { resumeDelay, startDelay } from './delay.ts';
import { dispatchStep } from './dispatch.ts';
import { failLeaf } from './end-leaf.ts';
import { checkGate, openGate } from './gate.ts';
import { freshLeaf } from './fresh-leaf.ts';
import { endSleep } from './sleep.ts';
import { checkTaskTimeout } from './worker-task.ts';

/** A step at the cursor of a place: the checks of sequences.md 8.1 in order, from where the leaf stands. */
export function runStep(draft: Draft, place: Place, block: StepBlock): Outcome {
  const { leaf } = frameAt(draft, place);
  if (draft.inFlight.has(place.key)) return 'open';
  if (leaf === null) return begin(draft, place, block, freshLeaf(draft.env.now));
  if (leaf.state !== 'failed' && isBreached(draft, leaf)) return breach(draft, place, block, leaf);
  switch (leaf.reason) {
    case 'delay':
      return resumeDelay(draft, leaf) ? afterDelay(draft, place, block, leaf) : 'open';
    case 'input':
      return checkGate(draft, place, block, leaf);
    case 'retry':
    case 'handler':
      return (leaf.wakeAt ?? 0) <= draft.env.now ? dispatchWhenKnown(draft, place, block, leaf) : 'open';
    case 'worker':
      return checkTaskTimeout(draft, place, block, leaf);
    case 'sleep':
      return (leaf.wakeAt ?? 0) <= draft.env.now ? endSleep(draft, place, leaf) : 'open';
    case 'child':
    case 'event':
      return 'open';
    case null:
      if (leaf.state === 'failed') return 'failed';
      if (!leaf.passed.when) return begin(draft, place, block, leaf);
      return dispatchWhenKnown(draft, place, block, leaf);
  }
}

/** [WHEN-1] to [WHEN-4]: once per pass, before anything else. */
function begin(draft: Draft, place: Place, block: StepBlock, fresh: Leaf): Outcome {
  if (!knows(draft, block)) return 'open';
  const leaf: Leaf = { ...fresh, passed: { ...fresh.passed, when: true } };
  if (block.when === undefined) return delayOrGate(draft, place, block, leaf);
  const guard = evaluateExpression(block.when, scopeAt(draft, place), 'strict');
  if (!guard.ok) {
    return failLeaf(draft, place, leaf, {
      message: guard.error.message,
      retryable: false,
      code: 'EXPRESSION_ERROR',
    });
  }
  return isTruthy(guard.value) ? delayOrGate(draft, place, block, leaf) : skip(draft, place, block);
}

function skip(draft: Draft, place: Place, block: StepBlock): Outcome {
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frameAt(draft, place)),
    kind: 'node',
    attempt: 0,
    output: { state: 'skipped' },
    startedAt: null,
  });
  draft.markSkipped(block.id, innerIteration(frameAt(draft, place)));
  moveOn(draft, place.key);
  return 'moved';
}

function delayOrGate(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  if (startDelay(draft, place, block, leaf)) return 'open';
  return afterDelay(draft, place, block, leaf);
}

function afterDelay(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const served = startClock(draft, block, { ...leaf, passed: { ...leaf.passed, delay: true } });
  if (block.wait_for_input !== undefined && !leaf.passed.gate) return openGate(draft, place, block, served);
  return dispatchWhenKnown(draft, place, block, served);
}

function dispatchWhenKnown(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  return knows(draft, block) ? dispatchStep(draft, place, block, leaf) : 'open';
}
