import type { StepBlock } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { DEFAULT_BREAKER_RULE } from './takes.ts';
import { isTracked } from './tracked-handlers.ts';

/** Longer messages are cut: the breaker shows the last one, the rows of the run have all of it. */
const ERROR_CHARS = 500;

/** Who executes the step in this attempt: the fallback when its breaker let it through ([CB-4]). */
export function handlerOf(block: StepBlock, leaf: Leaf): string {
  return leaf.taken?.handler ?? block.handler;
}

/** [CB-2]: the end of an attempt, told to the breaker of the handler that was called. A dry run calls nobody. */
export function tellBreaker(draft: Draft, block: StepBlock, leaf: Leaf, failure: Failure | null): void {
  const handler = handlerOf(block, leaf);
  if (draft.record.dryRun || !isTracked(handler)) return;
  if (failure === null) draft.push('outcomes', { handler, ok: true });
  else {
    const rule = draft.env.breakers ?? DEFAULT_BREAKER_RULE;
    draft.push('outcomes', { handler, ok: false, error: failure.message.slice(0, ERROR_CHARS), ...rule });
  }
}
