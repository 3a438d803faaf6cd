import type { StepBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { knows } from '../knows.ts';
import { withoutLimit } from '../limits/ask.ts';
import { mayBegin } from '../limits/budget.ts';
import { type Outcome, type Place, frameAt, moveOn, scopeAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { breach, isBreached, startClock } from './deadline.ts';
import { startDelay, waitForWindow, withinWindow } from './delay.ts';
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
  if (leaf === null) {
    return mayBegin(draft) ? begin(draft, place, block, freshLeaf(draft.env.now)) : 'open';
  }
  if (leaf.state !== 'failed' && isBreached(draft, leaf)) return breach(draft, place, block, leaf);
  switch (leaf.reason) {
    case 'delay':
      return isDue(draft, leaf) ? afterDelay(draft, place, block, leaf) : 'open';
    case 'input':
      return checkGate(draft, place, block, leaf);
    case 'send_window':
    case 'retry':
    case 'handler':
      return isDue(draft, leaf) ? goOn(draft, place, block, leaf) : 'open';
    case 'rate_limit':
    case 'breaker':
    case 'pool':
      return isDue(draft, leaf) ? goOn(draft, place, block, withoutLimit(leaf)) : 'open';
    case 'worker':
      return checkTaskTimeout(draft, place, block, leaf);
    case 'sleep':
      return isDue(draft, leaf) ? endSleep(draft, place, block, leaf) : 'open';
    case 'child':
    case 'event':
      return 'open';
    case null:
      if (leaf.state === 'failed') return 'failed';
      if (!leaf.passed.when) return begin(draft, place, block, leaf);
      return goOn(draft, place, block, leaf);
  }
}

function isDue(draft: Draft, leaf: Leaf): boolean {
  return (leaf.wakeAt ?? 0) <= draft.env.now;
}

/** [WHEN-1] to [WHEN-4]: once per pass, before anything else. */
function begin(draft: Draft, place: Place, block: StepBlock, fresh: Leaf): Outcome {
  if (!knows(draft, place, block)) return 'open';
  if (block.when === undefined && block.delay === undefined) {
    return goOn(draft, place, block, { ...fresh, passed: { ...fresh.passed, when: true, delay: true } });
  }
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
  return goOn(draft, place, block, { ...leaf, passed: { ...leaf.passed, delay: true } });
}

/**
 * 8.1 from 3 on: send window, gate, dispatch. An attempt that has begun is delivered again wherever the window stands
 * ([WIN-3]).
 */
function goOn(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  if (!knows(draft, place, block)) return 'open';
  if (leaf.dispatchedAt === null && waitForWindow(draft, place, block, leaf)) return 'open';
  const started = startClock(draft, block, leaf);
  const asks = block.wait_for_input !== undefined && !leaf.passed.gate;
  return asks
    ? openGate(draft, place, block, withinWindow(started))
    : dispatchStep(draft, place, block, started);
}
