import type { JsonObject } from '../json.ts';
import type { Settle } from './changes.ts';
import type { Draft } from './draft.ts';
import { type WhichFailures, errorObject, failedLeaves } from './failures.ts';
import { type FailedLeaf, type Frame, ROOT_KEY, wakeOf } from './frame.ts';
import { beginHooks } from './hooks/begin-hooks.ts';
import { hasHooksToRun } from './hooks/hooks-pending.ts';
import { traceEnd } from './interceptors/traces.ts';
import { queueEnd } from './queue-webhooks.ts';
import { nextAlert, withAlert } from './sla.ts';
import { type InstanceState, type TerminalState, isTerminal, wayTo } from './states.ts';

/** Ends a turn: chooses the state by the first rule of 6.4 that applies and makes the visible transition. */
export function settle(draft: Draft): Settle {
  const end = terminalState(draft);
  return end === null ? withAlert(draft, settleOpen(draft)) : settleTerminal(draft, end);
}

function settleOpen(draft: Draft): Settle {
  if (draft.state === 'paused') return rest('paused', null, null, openWaits(draft));
  const { now } = draft.env;
  if (draft.runnableLeft) return settleAt(draft, 'scheduled', now);
  const waits = waitingLeaves(draft);
  const earliest = earliestWake(draft);
  if (waits.some((wait) => wait.reason === 'sleep')) {
    goTo(draft, 'running');
    return rest('running', null, earliest, openWaits(draft));
  }
  const onTimer = waits.some((wait) => TIMERS.has(wait.reason));
  if (onTimer || pollingLoops(draft).length > 0) return settleAt(draft, 'scheduled', earliest ?? now);
  return settleAt(draft, 'waiting', earliest);
}

/** Ends a turn that was not to run the tree. A run that has to go on and has no slot is due for the claim that gives it one. */
export function settleUnmoved(draft: Draft): Settle {
  if (draft.lacksSlot && (draft.moved || isDue(draft))) {
    return withAlert(draft, settleAt(draft, 'scheduled', draft.env.now));
  }
  return draft.state === 'scheduled' ? settleUntouched(draft) : settle(draft);
}

function isDue(draft: Draft): boolean {
  const { nextFireAt } = draft.record;
  const startsAt = draft.state === 'scheduled' ? (nextFireAt ?? 0) : null;
  return [startsAt, earliestWake(draft)].some((at) => at !== null && at <= draft.env.now);
}

/** A future-scheduled instance that only processed its inbox keeps its time ([SETTLE-3]). */
function settleUntouched(draft: Draft): Settle {
  const { nextFireAt } = draft.record;
  return withAlert(draft, rest(draft.state, nextFireAt, nextFireAt, openWaits(draft)));
}

function settleAt(draft: Draft, state: 'scheduled' | 'waiting', at: number | null): Settle {
  goTo(draft, state);
  return rest(state, at, at, openWaits(draft));
}

/** Makes each transition on the legal way to a state; only the last one names what it is about. */
export function goTo(draft: Draft, state: InstanceState, blockId: string | null = null): void {
  for (const next of wayTo(draft.state, state)) draft.transition(next, {}, next === state ? blockId : null);
}

function rest(
  state: Settle['state'],
  nextFireAt: number | null,
  dueAt: number | null,
  waits: number,
): Settle {
  return { state, nextFireAt, dueAt, openWaits: waits, failure: null };
}

/** 7.6; the visible state may already be terminal (immediate cancel). */
export function terminalState(draft: Draft): TerminalState | null {
  if (isTerminal(draft.state)) return draft.state;
  switch (draft.rootEnd) {
    case null:
      return null;
    case 'drained':
      return 'completed';
    case 'failed':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
  }
}

function settleTerminal(draft: Draft, state: TerminalState): Settle {
  const failures = state === 'failed' ? rootFailures(draft, 'all') : [];
  const [first] = failures;
  if (state === 'failed') for (const leaf of rootFailures(draft, 'unabsorbed')) addErrorRow(draft, leaf);
  if (state === 'completed') traceEnd(draft, 'on_complete');
  const root = draft.frames.get(ROOT_KEY);
  goTo(draft, state, state === 'failed' ? (first?.blockId ?? null) : null);
  queueEnd(draft, state);
  if (state !== 'failed') {
    for (const key of [...draft.frames.keys()]) if (key !== ROOT_KEY) draft.remove(key);
  }
  if (root !== undefined && state !== 'failed') draft.put({ ...root, leaf: null });
  draft.markStrict();
  const failure = first === undefined ? null : { blockId: first.blockId, error: errorOf(first) };
  const cleanup = beginHooks(draft, state, failures);
  if (state === 'failed' && !hasHooksToRun(draft.record.hooks)) traceEnd(draft, 'on_failure');
  return { state, nextFireAt: null, ...cleanup, failure: state === 'failed' ? failure : null };
}

function rootFailures(draft: Draft, which: WhichFailures): readonly FailedLeaf[] {
  if (draft.givenUp !== null) return [draft.givenUp];
  const root = draft.frames.get(ROOT_KEY);
  return root === undefined ? [] : failedLeaves(draft, root, which);
}

function errorOf(leaf: FailedLeaf): JsonObject {
  return { ...errorObject(leaf.failure), retryable: leaf.failure.retryable };
}

/** [ERR-ROW-2]; a breached deadline has its own row. */
function addErrorRow(draft: Draft, leaf: FailedLeaf): void {
  const { failure } = leaf;
  if (failure.code === 'DEADLINE_EXCEEDED' && leaf.breachGone !== true) return;
  draft.addRow({
    blockId: leaf.blockId,
    iteration: leaf.iteration,
    kind: 'error',
    attempt: leaf.attempt,
    output: { __error__: true, retryable: failure.retryable, ...errorObject(failure) },
    startedAt: null,
  });
}

/** The earliest instant at which something of the run falls due; null when only facts can move it. */
export function earliestWake(draft: Draft): number | null {
  return earliestOf(wakesOf(draft));
}

/** The earliest instant still to come: what is due already and waits for room is not waited for. */
export function nextWake(draft: Draft): number | null {
  const alert = nextAlert(draft);
  const wakes = [...wakesOf(draft), ...(alert === null ? [] : [alert])];
  return earliestOf(wakes.filter((at) => at > draft.env.now));
}

function wakesOf(draft: Draft): readonly number[] {
  return [...waitingLeaves(draft).map((wait) => wait.wakeAt), ...pollingLoops(draft)].filter(
    (at) => at !== null,
  );
}

function earliestOf(instants: readonly number[]): number | null {
  return instants.length === 0 ? null : Math.min(...instants);
}

interface Wait {
  readonly reason: string;
  readonly wakeAt: number | null;
}

function waitingLeaves(draft: Draft): readonly Wait[] {
  return [...draft.frames.values()].flatMap((frame) =>
    frame.state === 'open' && frame.leaf !== null && frame.leaf.reason !== null
      ? [{ reason: frame.leaf.reason, wakeAt: wakeOf(frame.leaf) }]
      : [],
  );
}

function pollingLoops(draft: Draft): readonly number[] {
  return [...draft.frames.values()].flatMap((frame: Frame) =>
    frame.state === 'open' && frame.detail.kind === 'loop' && frame.detail.pollUntil !== null
      ? [frame.detail.pollUntil]
      : [],
  );
}

/** Tasks, gates, events and children that are open: what a waiting instance hangs on (DESIGN promise 2). */
export function openWaits(draft: Draft): number {
  return waitingLeaves(draft).filter((wait) => OUTSIDE.has(wait.reason)).length;
}

/** A leaf that waits for one of these is continued by the engine: the instance is `scheduled`. */
const TIMERS: ReadonlySet<string> = new Set([
  'delay',
  'send_window',
  'rate_limit',
  'breaker',
  'pool',
  'retry',
  'handler',
]);

const OUTSIDE: ReadonlySet<string> = new Set(['worker', 'input', 'event', 'child']);
