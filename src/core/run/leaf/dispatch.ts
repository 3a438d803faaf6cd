import type { StepBlock } from '../../definition/document.ts';
import type { LanguageError } from '../../expressions/language-error.ts';
import type { Scope } from '../../expressions/scope.ts';
import type { Failure } from '../../failure.ts';
import type { Json } from '../../json.ts';
import { type Result, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import type { Dispatch, HandlerKind } from '../env.ts';
import type { Leaf } from '../frame.ts';
import { idempotencyKey } from '../idempotency-key.ts';
import { attemptOf, beforeOf, traceBefore } from '../interceptors/traces.ts';
import { askFirst, demandOf, takenWith } from '../limits/ask.ts';
import { handlerOf } from '../limits/breaker-outcome.ts';
import { mayBegin } from '../limits/budget.ts';
import { withResource } from '../limits/resource.ts';
import type { Takes } from '../limits/takes.ts';
import { type Outcome, type Place, frameAt, scopeAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { contextLater, viewScopeOf } from './context-view.ts';
import { settleAttempt } from './attempt.ts';
import { boundByDeadline } from './deadline.ts';
import { completeLeaf, failLeaf, isProtected } from './end-leaf.ts';
import { keepResult, lookUp, withCacheKey } from './result-cache.ts';
import { resolveParams } from './raw-params.ts';
import { parseSleep, startSleep } from './sleep.ts';
import { stubOf } from './stub.ts';
import { unavailableFailure } from './unavailable.ts';
import { resolveUncertain } from './uncertain.ts';
import { createWorkerTask } from './worker-task.ts';

/** After so long it is decided anew who executes a step whose handler this process lacks (RULINGS B8). */
const LEFT_TO_OTHERS_MS = 5_000;

/**
 * 8.1 from 7 on: resolves the params and hands the attempt to who executes it. Nothing is stored for a leaf that does
 * not fit into this round (RULINGS A21).
 */
export function dispatchStep(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  if (leaf.dispatchedAt !== null && leaf.reason === null) {
    const uncertain = resolveUncertain(draft, place, block, leaf, 'process');
    if (uncertain !== null) return uncertain;
  }
  if (!mayBegin(draft)) return 'open';
  const handler = handlerOf(block, leaf);
  const kind = draft.env.kindOf(handler);
  if (kind === 'elsewhere') return leaveToOthers(draft, place, block, leaf);
  const occupies = kind === 'effect' && handler !== 'sleep' && !draft.record.dryRun;
  const timeoutMs = block.timeout ?? draft.env.defaultsOf(handler).timeoutMs ?? null;
  if (occupies && (draft.room <= 0 || draft.env.fits?.(timeoutMs) === false)) {
    draft.runnableLeft = true;
    if (leaf.dispatchedAt === null && mayHaveRun(draft, place, block)) markAsRun(draft, place, leaf);
    return 'open';
  }
  const demand = demandOf(draft, place, block, leaf);
  if (demand.kind === 'broken') return failLeaf(draft, place, leaf, templateError(demand.message));
  const takes = demand.kind === 'takes' ? demand.takes : null;
  const scope = scopeAt(draft, place);
  const { input } = leaf;
  const resolved = input === undefined ? paramsOf(draft, block, leaf, scope) : ok(input);
  const cached = lookUp(draft, place, block, leaf);
  if (cached.kind === 'unknown') return 'open';
  // The token of a plain call rides with its intent; all else goes on once it has what it needs.
  const rides = occupies && resolved.ok && (cached.kind === 'off' || cached.kind === 'miss');
  if (takes !== null && !(rides && takes.breaker === undefined && takes.pool === undefined)) {
    if (draft.room <= 0) {
      draft.runnableLeft = true;
      return 'open';
    }
    const began = leaf.dispatchedAt ?? (mayHaveRun(draft, place, block) ? draft.env.now : null);
    askFirst(draft, place, { ...leaf, dispatchedAt: began }, takes);
    return 'open';
  }
  if (!resolved.ok) {
    return failLeaf(draft, place, leaf, templateError(resolved.error.message));
  }
  const params = resolved.value;
  switch (cached.kind) {
    case 'broken':
      return failLeaf(draft, place, leaf, templateError(cached.message));
    case 'hit':
      return settleHit(draft, place, block, leaf, cached.value);
    case 'off':
    case 'miss':
      return execute(draft, place, block, withCacheKey(leaf, cached.kind === 'miss' ? cached.key : null), {
        params,
        handler,
        kind,
        occupies,
        timeoutMs,
        takes,
        scope,
      });
  }
}

function paramsOf(draft: Draft, block: StepBlock, leaf: Leaf, full: Scope): Result<Json, LanguageError> {
  if (block.params === undefined) return ok({});
  const scope = withResource(viewScopeOf(draft, full, block, leaf.attempt), leaf);
  return resolveParams(handlerOf(block, leaf), block.params, scope);
}

/** What a dry run has cached may be a stub. The hit counts as an attempt for the trace ([CACHE-2]). */
function settleHit(draft: Draft, place: Place, block: StepBlock, leaf: Leaf, value: Json): Outcome {
  const hit = { ...withCacheKey(leaf, null), dispatchedAt: draft.env.now };
  draft.cacheLooks.hits += 1;
  return settleAttempt(draft, place, block, hit, { ok: true, output: value, stub: draft.record.dryRun });
}

function templateError(message: string): Failure {
  return { message, retryable: false, code: 'TEMPLATE_ERROR' };
}

/** 8.1, 11: hands the attempt to who executes it. */
function execute(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  call: {
    readonly params: Json;
    readonly handler: string;
    readonly kind: Exclude<HandlerKind, 'elsewhere'>;
    readonly occupies: boolean;
    readonly timeoutMs: number | null;
    readonly takes: Takes | null;
    readonly scope: Scope;
  },
): Outcome {
  const { params, kind, handler } = call;
  if (handler === 'sleep') {
    return startSleep(draft, place, block, leaf, parseSleep(params));
  }
  switch (kind) {
    case 'unavailable':
      return failLeaf(draft, place, leaf, unavailableFailure(handler));
    case 'worker':
      if (draft.record.dryRun) return completeByStub(draft, place, block, leaf, params);
      return createWorkerTask(draft, place, block, leaf, params);
    case 'pure':
    case 'effect':
      requestCall(draft, place, block, leaf, call);
      return 'open';
  }
}

/** [DRY-1]: a worker's step makes no task. */
function completeByStub(draft: Draft, place: Place, block: StepBlock, leaf: Leaf, params: Json): Outcome {
  traceBefore(draft, attemptOf(frameAt(draft, place), block, leaf));
  const stub = stubOf(handlerOf(block, leaf), params);
  keepResult(draft, leaf, stub);
  return completeLeaf(draft, place, { ...leaf, dispatchedAt: draft.env.now }, stub);
}

/**
 * Another build that is alive has the handler: the instance is put back for its processes, and no worker task is made
 * (RULINGS B8). No attempt is consumed. What may have run before a crash keeps its mark, so that the next call is told.
 */
function leaveToOthers(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const { now } = draft.env;
  draft.putLeaf(frameAt(draft, place), {
    ...leaf,
    state: 'waiting',
    reason: 'handler',
    wakeAt: now + LEFT_TO_OTHERS_MS,
    dispatchedAt: leaf.dispatchedAt ?? (mayHaveRun(draft, place, block) ? now : null),
  });
  return 'open';
}

/** Without a stored intent only the lost lease says that the leaf may have run before ([REC-2]). */
function mayHaveRun(draft: Draft, place: Place, block: StepBlock): boolean {
  return draft.lostCalls.mayHaveRun(place.key) && !needsIntentFirst(draft, place, block);
}

/** The turn that took over may end before the leaf is called again; whoever calls it then has to tell the handler. */
function markAsRun(draft: Draft, place: Place, leaf: Leaf): void {
  const { now } = draft.env;
  draft.putLeaf(frameAt(draft, place), {
    ...leaf,
    state: 'waiting',
    reason: 'retry',
    wakeAt: now,
    dispatchedAt: now,
  });
}

function requestCall(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  call: {
    readonly params: Json;
    readonly handler: string;
    readonly occupies: boolean;
    readonly timeoutMs: number | null;
    readonly takes: Takes | null;
    readonly scope: Scope;
  },
): void {
  const frame = frameAt(draft, place);
  const intentFirst = needsIntentFirst(draft, place, block);
  const again = leaf.dispatchedAt !== null || mayHaveRun(draft, place, block);
  const begun: Leaf = {
    ...leaf,
    state: 'running',
    reason: null,
    wakeAt: null,
    dispatchedAt: draft.env.now,
    redeliveries: leaf.dispatchedAt === null ? leaf.redeliveries : leaf.redeliveries + 1,
  };
  const running = call.takes === null ? begun : { ...begun, ...takenWith(leaf, call.takes) };
  if (call.occupies) {
    draft.room -= 1;
    draft.intend(frame, running, call.takes === null ? null : { before: leaf, takes: call.takes });
  }
  const before = beforeOf(draft, frame, block, leaf);
  const dispatch: Dispatch = {
    frameKey: place.key,
    blockId: block.id,
    iteration: innerIteration(frame),
    handler: call.handler,
    params: call.params,
    attempt: leaf.attempt,
    redelivery: again,
    pure: !call.occupies,
    timeoutMs: boundByDeadline(draft, leaf, call.timeoutMs),
    shielded: isProtected(place, block),
    context: contextLater(draft, call.scope, block, leaf),
    idempotencyKey: idempotencyKey(draft.record, leaf, block.id, innerIteration(frame)),
    intentFirst,
    leaf: running,
  };
  draft.ready.push(before === null ? dispatch : { ...dispatch, before });
}

/**
 * RULINGS A22: the intent of a saga action is durable before the effect, so that it can be undone ([I33]), and the one of
 * an at-most-once step, so that it is not called again. So is that of a step for which it matters that it has begun, and
 * when: a cancel lets it finish (17.3), its deadline runs ([DL-1]), or its send window may shut meanwhile ([WIN-3]). After
 * a crash nothing else would say so. A token is taken with the intent (RULINGS A32).
 */
export function needsIntentFirst(draft: Draft, place: Place, block: StepBlock): boolean {
  if ((block.on_uncertain ?? 'retry') !== 'retry' || !block.cancellable) return true;
  if (block.deadline !== undefined || block.send_window !== undefined) return true;
  if (block.rate_limit_key !== undefined || block.pool !== undefined) return true;
  return place.path.some((key) => draft.frames.get(key)?.detail.kind === 'saga');
}
