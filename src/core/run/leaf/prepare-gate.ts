import type { StepBlock } from '../../definition/document.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import { type Json, member } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import type { Gate, Leaf } from '../frame.ts';
import { type Place, frameAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { viewScope } from './context-view.ts';
import { parseWantedEvents } from './wanted-events.ts';

type Extras = Pick<Gate, 'waitId' | 'notify'>;

/**
 * What two handlers do when their gate opens, with params resolved like any others: `wait_for_event` registers its wait
 * ([WAIT-1]), `human_review` tells somebody ([HR-2]). What is wrong with the params fails the step before the gate is there.
 */
export function prepareGate(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
): Result<Extras, Failure> {
  const { handler } = block;
  if (handler !== 'wait_for_event' && handler !== 'human_review') return ok({});
  const { input } = leaf;
  const resolved =
    input === undefined
      ? resolveTemplates(block.params ?? {}, viewScope(draft, place, block, leaf.attempt))
      : ok(input);
  if (!resolved.ok) return err({ message: resolved.error.message, retryable: false, code: 'TEMPLATE_ERROR' });
  const params = resolved.value ?? {};
  const problem = draft.env.checkParams?.(handler, params) ?? null;
  if (problem !== null) return err(problem);
  return handler === 'wait_for_event'
    ? registerWait(draft, place, block, params)
    : ok(noticeOf(draft, params));
}

function registerWait(draft: Draft, place: Place, block: StepBlock, params: Json): Result<Extras, Failure> {
  const wanted = parseWantedEvents(params);
  if (!wanted.ok) return wanted;
  if (draft.record.dryRun) return ok({});
  const waitId = draft.env.newId();
  const iteration = innerIteration(frameAt(draft, place));
  draft.outside.openWait({ ...wanted.value, id: waitId, blockId: block.id, iteration });
  return ok({ waitId });
}

/** Nobody is told of a dry run ([HR-3]). */
function noticeOf(draft: Draft, params: Json): Extras {
  const url = member(params, 'notify_url') ?? null;
  return url === null || draft.record.dryRun ? {} : { notify: params };
}
