import type { LoopBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Draft } from '../draft.ts';
import type { Frame, LoopDetail } from '../frame.ts';
import { knows } from '../knows.ts';
import { passesTime } from '../passes-time.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  openFrame,
  removeBelow,
  scopeAt,
  stopsHere,
} from '../place.ts';
import { forgetOldPass, resetCounters } from './passes.ts';

const FRESH: LoopDetail = { kind: 'loop', passes: 0, inPass: false, pollUntil: null };

/** 9.5: before each pass cap, then condition; after it counter, `break_on`, retention, poll interval. */
export function runLoop(draft: Draft, place: Place, block: LoopBlock, runList: RunList): Outcome {
  const frame = openFrame(draft, place, block, () => FRESH);
  const inner = inside(place, frame);
  for (;;) {
    const detail = loopDetail(draft, inner);
    const step = detail.inPass
      ? finishPass(draft, place, inner, block, runList)
      : beginPass(draft, place, inner, block, detail);
    if (step !== 'again') return step;
  }
}

function loopDetail(draft: Draft, inner: Place): LoopDetail {
  const { detail } = frameAt(draft, inner);
  return detail.kind === 'loop' ? detail : FRESH;
}

function beginPass(
  draft: Draft,
  place: Place,
  inner: Place,
  block: LoopBlock,
  detail: LoopDetail,
): Outcome | 'again' {
  const close = (end: 'drained' | 'cancelled'): Outcome =>
    closeBlock(draft, place, frameAt(draft, inner), end);
  if (stopsHere(draft, place)) return close('cancelled');
  if (detail.pollUntil !== null && !passesTime(draft) && draft.env.now < detail.pollUntil) return 'open';
  if (detail.passes >= block.max_iterations) return close('drained');
  if (!knows(draft, place, block)) return 'open';
  if (!holds(draft, place, block.condition)) return close('drained');
  if (detail.passes > 0) resetCounters(draft, block.id, frameAt(draft, inner).iteration, detail.passes - 1);
  const frame = frameAt(draft, inner);
  draft.put({ ...frame, cursor: 0, leaf: null, detail: { ...detail, inPass: true, pollUntil: null } });
  return 'again';
}

function finishPass(
  draft: Draft,
  place: Place,
  inner: Place,
  block: LoopBlock,
  runList: RunList,
): Outcome | 'again' {
  const end = runList(draft, inner);
  if (end === 'open') return 'open';
  const failed = end === 'failed' && !block.continue_on_error;
  if (failed || end === 'cancelled') return closeBlock(draft, place, frameAt(draft, inner), end);
  // A pass that a cancel has cut short is not counted (17.3).
  if (stopsHere(draft, place)) return closeBlock(draft, place, frameAt(draft, inner), 'cancelled');
  if (!knows(draft, place, block)) return 'open';
  removeBelow(draft, frameAt(draft, inner));
  const detail = loopDetail(draft, inner);
  const passes = detail.passes + 1;
  const frame = frameAt(draft, inner);
  draft.addRow({
    blockId: block.id,
    iteration: frame.iteration,
    kind: 'counter',
    attempt: passes,
    output: { _iterations: passes },
    startedAt: null,
  });
  const breaks = block.break_on !== undefined && holds(draft, place, block.break_on);
  forgetOldPass(draft, block, frame.iteration, passes);
  const polls = (block.poll_interval ?? 0) > 0 && passes < block.max_iterations && !breaks;
  const pollUntil = polls ? draft.env.now + (block.poll_interval ?? 0) * 1000 : null;
  const next: Frame = {
    ...frame,
    cursor: 0,
    leaf: null,
    state: 'open',
    detail: { kind: 'loop', passes, inPass: false, pollUntil },
  };
  draft.put(next);
  return breaks ? closeBlock(draft, place, next, 'drained') : 'again';
}

function holds(draft: Draft, place: Place, text: string): boolean {
  const value = evaluateExpression(text, scopeAt(draft, place), 'lenient');
  return value.ok && isTruthy(value.value);
}
