import { beginCall } from '../core/run/advance.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { outputsAt } from '../core/run/item-scopes.ts';
import { placeOf } from '../core/run/place.ts';
import type { Store } from '../ports/store/store.ts';
import type { ReleasedLease, TurnCommit, TurnVerdict } from '../ports/store/turn.ts';
import type { Hint, Hints } from '../ports/hints.ts';
import type { StepGate } from '../ports/step-handler.ts';
import { isTerminal } from '../core/run/states.ts';
import { CallAbort } from './call-abort.ts';
import { callHandler } from './call-handler.ts';
import type { CallOutcome, HandlerCall } from './handler-call.ts';
import { hintFreed } from './hint-freed.ts';
import { invokeBefore } from './invoke-interceptors.ts';
import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { TurnReads } from './turn-reads.ts';

/** A call is cut off this long before a function host ends the invocation, so that its failure can still be stored. */
const COMMIT_MS = 2_000;

/** A handler that runs now. */
export interface RunningCall {
  readonly dispatch: Dispatch;
  readonly controller: CallAbort;
  /** On the monotonic clock. */
  readonly beganAtMs: number;
  readonly outcome: Promise<CallOutcome>;
}

/** What a call of a turn works with. */
export interface CallContext {
  readonly draft: Draft;
  readonly lease: Lease;
  readonly reads: TurnReads;
}

/** The same with what handlers reach through their calls; made once for a draft. */
export interface CallSource extends CallContext {
  readonly reach: Required<Pick<HandlerCall, 'readState' | 'countState' | 'addLog' | 'mayWait'>>;
}

export function callSource(context: CallContext): CallSource {
  const { draft, lease, reads } = context;
  const key = { tenantId: draft.record.tenantId, instanceId: draft.record.id };
  return {
    ...context,
    reach: {
      readState: async (name) => {
        const known = draft.knowledge.stateValue(name);
        return known === null ? (await reads.readState(key, [name])).get(name) : known.value;
      },
      countState: () => reads.countState(key),
      addLog: (line) => {
        draft.push('logs', line);
      },
      mayWait: () => lease.leftMs() > 0,
    },
  };
}

/**
 * Starts the handler of a dispatch. The draft counts the step; the outcome never rejects. Who takes it in says so with
 * `callEnded`.
 */
export function startCall(deps: TurnDeps, source: CallSource, dispatch: Dispatch): RunningCall {
  const { draft, lease, reach } = source;
  const controller = new CallAbort();
  const beganAtMs = deps.clock.monotonicMs();
  deps.counters.stepBegan();
  beginCall(draft, dispatch);
  const found = deps.handlers.lookup(dispatch.handler);
  if (found.type !== 'handler') {
    const failure = {
      message: `the handler ${dispatch.handler} is not here any more`,
      retryable: true,
      code: 'HANDLER_NOT_AVAILABLE',
    };
    return { dispatch, controller, beganAtMs, outcome: Promise.resolve({ ok: false, failure }) };
  }
  const call: HandlerCall = {
    dispatch,
    handler: found.handler,
    record: draft.record,
    outputs: outputsAt(draft, placeOf(draft, dispatch.frameKey)),
    nowMs: draft.env.now,
    controller,
    leftMs: boundMs(deps, lease),
    readState: reach.readState,
    countState: reach.countState,
    addLog: reach.addLog,
    mayWait: reach.mayWait,
    gate: gateOf(draft, dispatch),
  };
  const outcome =
    dispatch.before === undefined ? callHandler(deps, call) : callAfterBefore(deps, source, call);
  return { dispatch, controller, beganAtMs, outcome };
}

/** The handler of a call has answered, or was given up. */
export function callEnded({ clock, counters }: TurnDeps, { beganAtMs }: RunningCall): void {
  counters.stepEnded(clock.monotonicMs() - beganAtMs);
}

/** With an interceptor before it, whose answer goes into the row of its trace ([INT-5]). */
async function callAfterBefore(
  deps: TurnDeps,
  context: CallContext,
  call: HandlerCall,
): Promise<CallOutcome> {
  const before = await invokeBefore(deps, context, call.dispatch);
  const outcome = await callHandler(deps, call);
  return before === null ? outcome : { ...outcome, before };
}

/**
 * How long a call may run. In a process that lives on the lease is renewed while it runs, so the step's own timeout is
 * the only bound; a function host ends the invocation, and the lease with it (RULINGS B4).
 */
export function boundMs(deps: TurnDeps, lease: Lease): number {
  const remaining = deps.limits.remainingTimeMs;
  if (remaining === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(remaining() - COMMIT_MS, lease.leftMs()));
}

function gateOf(draft: Draft, { blockId }: Dispatch): StepGate | null {
  const block = draft.plan.nodes.get(blockId)?.block;
  if (block?.type !== 'step' || block.wait_for_input === undefined) return null;
  const { choices, allow_comment: allowComment } = block.wait_for_input;
  return { choices, allowComment };
}

const NO_HINTS: readonly Hint[] = [];

/** Who got the concurrency slot that a commit has freed is due now ([CONC-3]). */
export function slotHints(tenantId: string, verdict: TurnVerdict): readonly Hint[] {
  if (verdict.verdict !== 'ok' && verdict.verdict !== 'already') return NO_HINTS;
  const { nextOfKey: instanceId } = verdict;
  return instanceId === undefined ? NO_HINTS : [{ tenantId, instanceId, delayMs: 0 }];
}

/** Gives leases back; who got a slot that this has freed is due now. */
export async function giveLeasesBack(
  { store, hints }: { readonly store: Pick<Store, 'releaseLeases'>; readonly hints: Hints },
  leases: readonly ReleasedLease[],
): Promise<void> {
  hintFreed({ hints }, { given: await store.releaseLeases(leases) });
}

/** Instances that a commit has set due besides its own: children, and the parent of a child that ended. */
export function hintsOf(draft: Draft, turn: TurnCommit): readonly Hint[] {
  const { tenantId } = turn;
  const children = turn.childrenStarted.length + turn.childrenCancelled.length;
  const hasParent = turn.settle !== null && draft.record.parent !== null;
  if (children === 0 && turn.outside === undefined && !hasParent) return NO_HINTS;
  const { signals = [], emits = [] } = turn.outside ?? {};
  const ids = [
    ...turn.childrenStarted.map((child) => child.id),
    ...turn.childrenCancelled.map((child) => child.instanceId),
    ...[...signals, ...emits].map((target) => target.instanceId).filter((id) => id !== turn.instanceId),
  ];
  if (turn.settle !== null && isTerminal(turn.settle.state) && draft.record.parent !== null) {
    ids.push(draft.record.parent.instanceId);
  }
  return ids.map((instanceId) => ({ tenantId, instanceId, delayMs: 0 }));
}
