import type { StepBlock } from '../definition/document.ts';
import type { DocumentError } from '../definition/problems.ts';
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';
import type { Result } from '../result.ts';
import type { Draft } from './draft.ts';
import type { Dispatch } from './env.ts';
import { cancelBelow } from './cancel-subtree.ts';
import { setEnd } from './blocks/parallel.ts';
import { type Frame, ROOT_KEY, frameKey } from './frame.ts';
import { traceLate } from './interceptors/traces.ts';
import type { Needs } from './knowledge.ts';
import { settleAttempt } from './leaf/attempt.ts';
import { failLeaf } from './leaf/end-leaf.ts';
import { freshLeaf } from './leaf/fresh-leaf.ts';
import { markLostCalls } from './leaf/mark-lost-calls.ts';
import { noteCutCalls, noteLateResult } from './leaf/note-cut-calls.ts';
import { tellBreaker } from './limits/breaker-outcome.ts';
import { pauseOverBudget } from './limits/budget.ts';
import { countExternalCall, countUsage } from './limits/usage.ts';
import { callsOutside } from './limits/tracked-handlers.ts';
import type { Outside } from './outside.ts';
import { ROOT_PLACE, addNodeRow, frameAt, placeOf, removeBelow } from './place.ts';
import { type Plan, currentList, innerIteration, isJoined } from './plan.ts';
import { injectFromStep } from './reshape/apply-changes.ts';
import type { Injection } from './reshape/injected.ts';
import { goTo } from './settle.ts';
import { checkSla } from './sla.ts';
import { walk } from './walk.ts';

/**
 * Takes the run as far as it goes without calling anybody. What is to be called stands in `draft.ready`; needs, when
 * there are any, have to be read first and then the call is repeated. A paused run does not move, but a cancel reaches it.
 */
export function advance(
  draft: Draft,
  options: { readonly room: number; readonly mayRun: boolean },
): Needs | null {
  draft.withdraw();
  draft.runnableLeft = false;
  if (draft.terminal) return null;
  checkSla(draft);
  if (!draft.cancelling && draft.state === 'paused') {
    markLostCalls(draft);
    return null;
  }
  if (!draft.cancelling && !options.mayRun) return null;
  walk(draft, options);
  // What was ready when its branch was visited may have been cancelled by a later one, such as the winner of a race.
  draft.ready = draft.ready.filter((dispatch) => draft.frames.get(dispatch.frameKey)?.state === 'open');
  // A paused run whose cancel has to drain goes on, even when it only waits for what is protected ([CAN-6]).
  const goesOn = draft.moved || draft.state === 'paused';
  if (draft.rootEnd === null && goesOn && draft.overLimit === null) goTo(draft, 'running');
  stopAtLimit(draft);
  return draft.knowledge.takeNeeds();
}

/** A limit held a leaf back: the run is paused ([BUD-3]), or given up ([END-1]). */
function stopAtLimit(draft: Draft): void {
  switch (draft.overLimit) {
    case null:
      return;
    case 'budget':
      pauseOverBudget(draft);
      // The walk is over for now: what a lost lease may have called must be known when the run is resumed.
      if (draft.state === 'paused') markLostCalls(draft);
      return;
    case 'steps':
      giveUp(draft, {
        message: `the run would take more than ${draft.env.maxSteps ?? 0} steps`,
        retryable: false,
        code: 'MAX_STEPS_EXCEEDED',
      });
  }
}

/**
 * Granted leaves are not called after all, because the time of the turn ran out meanwhile (RULINGS A21): they are ready
 * as before. What an earlier turn may have called keeps its mark.
 */
export function takeBack(draft: Draft, granted: readonly Dispatch[]): void {
  for (const { frameKey: key, leaf, redelivery } of granted) {
    const frame = draft.frames.get(key);
    if (frame === undefined) continue;
    const dispatchedAt = redelivery ? leaf.dispatchedAt : null;
    draft.putLeaf(frame, { ...leaf, state: 'waiting', reason: 'retry', wakeAt: draft.env.now, dispatchedAt });
  }
}

/** A handler is being called for this dispatch: it counts as a step ([END-2]). */
export function beginCall(draft: Draft, dispatch: Dispatch): void {
  draft.inFlight.add(dispatch.frameKey);
  draft.countStep();
  if (draft.frames.get(dispatch.frameKey)?.leaf?.cacheKey !== undefined) draft.cacheLooks.misses += 1;
}

export interface Answer {
  readonly frameKey: string;
  readonly outcome:
    | {
        readonly ok: true;
        readonly output: Json;
        readonly writes: readonly KvChange[];
        /** What it does beyond this instance ([H-5]). */
        readonly outside?: Partial<Outside>;
        /** Blocks for the root list, in the same commit ([OP-12]). */
        readonly injects?: Injected;
        /** It stands for a result that a dry run did not ask for ([DRY-1]). */
        readonly stub?: boolean;
        /** What an invoked `before_step` answered ([INT-5]). */
        readonly before?: { readonly output: Json };
      }
    | { readonly ok: false; readonly failure: Failure; readonly before?: { readonly output: Json } };
}

export interface Injected {
  /** The blocks at their place in this plan, or what is wrong with them. */
  readonly check: (plan: Plan) => Result<Injection, DocumentError>;
}

export interface KvChange {
  readonly key: string;
  /** Absent: the key is deleted. */
  readonly value?: Json;
}

/** Takes in what a called handler answered. The caller drops answers of aborted calls before. */
export function finishCall(draft: Draft, dispatch: Dispatch, outcome: Answer['outcome']): void {
  draft.inFlight.delete(dispatch.frameKey);
  if (callsOutside(dispatch.handler)) countExternalCall(draft);
  const frame = draft.frames.get(dispatch.frameKey);
  const block = draft.plan.nodes.get(dispatch.blockId)?.block;
  // What a cancel has reached gives no result any more, finished or not ([CAN-8]).
  const cancelled = draft.cancelling && !dispatch.shielded;
  if (
    frame === undefined ||
    frame.state !== 'open' ||
    block?.type !== 'step' ||
    draft.terminal ||
    cancelled
  ) {
    noteLateResult(draft, dispatch, outcome.ok);
    return;
  }
  const step = {
    blockId: block.id,
    startedAt: dispatch.leaf.dispatchedAt ?? draft.env.now,
    attempt: dispatch.attempt,
  };
  const resource = dispatch.leaf.taken?.resource;
  draft.instance.setCurrentStep(resource === undefined ? step : { ...step, resource });
  settleStep(draft, block, dispatch, outcome);
}

function settleStep(draft: Draft, block: StepBlock, dispatch: Dispatch, outcome: Answer['outcome']): void {
  const place = placeOf(draft, dispatch.frameKey);
  traceLate(draft, dispatch, outcome.before);
  if (!outcome.ok) {
    tellBreaker(draft, block, dispatch.leaf, outcome.failure);
    settleAttempt(draft, place, block, dispatch.leaf, outcome);
    return;
  }
  const { output, stub = false, injects } = outcome;
  const injection = injects === undefined ? null : injectFromStep(draft, injects);
  if (injection?.ok === false) {
    settleAttempt(draft, place, block, dispatch.leaf, { ok: false, failure: injection.error });
    return;
  }
  const settled = settleAttempt(draft, place, block, dispatch.leaf, { ok: true, output, stub });
  tellBreaker(draft, block, dispatch.leaf, settled === 'moved' ? null : refusedResult(block));
  if (settled !== 'moved') return;
  countUsage(draft, dispatch.handler, output);
  if (outcome.outside !== undefined) draft.outside.add(outcome.outside);
  if (!draft.record.dryRun) injection?.value();
  for (const { key, value } of outcome.writes) {
    draft.push('kv', value === undefined ? { key, deleted: true } : { key, value });
    draft.knowledge.setState(key, value);
  }
}

function refusedResult(block: StepBlock): Failure {
  return { message: `the result of ${block.id} was not accepted`, retryable: false };
}

/** [CAN-7], [INS-12]: ends the run at once, protected or not. */
export function cancelAtOnce(draft: Draft): void {
  noteCutCalls(draft);
  const root = draft.frames.get(ROOT_KEY);
  if (root !== undefined) cancelBelow(draft, root);
  draft.rootEnd = 'cancelled';
}

/**
 * [REC-3]: the run is given up. The leaf that was in flight, or the innermost one that was next, carries the failure; what
 * else was open is cancelled.
 */
export function giveUp(draft: Draft, failure: Failure): void {
  draft.ensureRoot();
  const suspect = suspectOf(draft);
  const place = placeOf(draft, frameKey(suspect));
  // A composite that has stored no list of its own yet carries the failure itself.
  removeBelow(draft, suspect);
  failLeaf(draft, place, suspect.leaf ?? freshLeaf(draft.env.now), failure);
  for (const key of place.path.toReversed()) failFrame(draft, key);
  const root = draft.frames.get(ROOT_KEY);
  if (root !== undefined) cancelBelow(draft, root);
  const block = currentList(draft.plan, suspect)[suspect.cursor];
  draft.givenUp = {
    blockId: block?.id ?? '',
    iteration: innerIteration(suspect),
    attempt: suspect.leaf?.attempt ?? 0,
    failure,
  };
  draft.rootEnd = 'failed';
}

function suspectOf(draft: Draft): Frame {
  const depth = (frame: Frame): number => placeOf(draft, frameKey(frame)).path.length;
  const lists = [...draft.frames.values()]
    .filter((frame) => frame.state === 'open' && currentList(draft.plan, frame)[frame.cursor] !== undefined)
    .toSorted((left, right) => depth(right) - depth(left));
  const inFlight = lists.find(({ leaf }) => leaf?.reason === null && leaf.dispatchedAt !== null);
  return inFlight ?? lists.find((frame) => frame.leaf !== null) ?? lists[0] ?? frameAt(draft, ROOT_PLACE);
}

function failFrame(draft: Draft, key: string): void {
  const frame = draft.frames.get(key);
  if (frame === undefined) return;
  draft.put({ ...frame, state: 'failed' });
  const { detail, branch } = frame;
  if (detail.kind === 'branch' && branch !== null) {
    setEnd(draft, placeOf(draft, frameKey({ ...frame, branch: null })), branch, 'failed');
  }
  if (detail.kind !== 'root' && !isJoined(frame)) addNodeRow(draft, frame, 'failed');
}
