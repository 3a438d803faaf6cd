import { beginCall } from '../core/run/advance.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import type { TurnCommit } from '../ports/store/turn.ts';
import type { Hint } from '../ports/hints.ts';
import { isTerminal } from '../core/run/states.ts';
import { CallAbort } from './call-abort.ts';
import { type CallOutcome, callHandler } from './call-handler.ts';
import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { TurnReads } from './turn-reads.ts';

const ESCALATION_TIMEOUT_MS = 10_000;
/** A call is cut off this long before a function host ends the invocation, so that its failure can still be stored. */
const COMMIT_MS = 2_000;

/** A handler that runs now. */
export interface RunningCall {
  readonly dispatch: Dispatch;
  readonly controller: CallAbort;
  readonly outcome: Promise<CallOutcome>;
}

/** What a call of a turn works with. */
export interface CallContext {
  readonly draft: Draft;
  readonly lease: Lease;
  readonly reads: TurnReads;
}

/** Starts the handler of a dispatch. The draft counts the step; the outcome never rejects. */
export function startCall(deps: TurnDeps, context: CallContext, dispatch: Dispatch): RunningCall {
  const { draft, lease, reads } = context;
  const controller = new CallAbort();
  beginCall(draft, dispatch);
  const found = deps.handlers.lookup(dispatch.handler);
  if (found.type !== 'handler') {
    const failure = {
      message: `the handler ${dispatch.handler} is not here any more`,
      retryable: true,
      code: 'HANDLER_NOT_AVAILABLE',
    };
    return { dispatch, controller, outcome: Promise.resolve({ ok: false, failure }) };
  }
  const key = { tenantId: draft.record.tenantId, instanceId: draft.record.id };
  const outcome = callHandler(deps, {
    dispatch,
    handler: found.handler,
    record: draft.record,
    outputs: draft.knowledge.knownOutputs,
    nowMs: draft.env.now,
    controller,
    leftMs: boundMs(deps, lease),
    readState: async (name) => {
      const known = draft.knowledge.stateValue(name);
      return known === null ? (await reads.readState(key, [name])).get(name) : known.value;
    },
    countState: () => reads.countState(key),
    addLog: (line) => {
      draft.push('logs', line);
    },
  });
  return { dispatch, controller, outcome };
}

/**
 * How long a call may run. In a process that lives on the lease is renewed while it runs, so the step's own timeout is
 * the only bound; a function host ends the invocation, and the lease with it (RULINGS B4).
 */
function boundMs(deps: TurnDeps, lease: Lease): number {
  const remaining = deps.limits.remainingTimeMs;
  if (remaining === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(remaining() - COMMIT_MS, lease.leftMs()));
}

/** Best effort, in process only, bounded; the run does not wait and errors are ignored ([HI-10]). */
export function callEscalations(deps: TurnDeps, draft: Draft): void {
  for (const { handler, params } of draft.takeEscalations()) {
    const found = deps.handlers.lookup(handler);
    if (found.type !== 'handler') {
      deps.log.warn('an escalation handler is not registered here', {
        handler,
        instance_id: draft.record.id,
      });
      continue;
    }
    const controller = new CallAbort();
    void callHandler(deps, {
      dispatch: escalationDispatch(draft, handler, params),
      handler: found.handler,
      record: draft.record,
      outputs: new Map(),
      nowMs: draft.env.now,
      controller,
      leftMs: ESCALATION_TIMEOUT_MS,
      readState: () => Promise.resolve(undefined),
      countState: () => Promise.resolve(0),
      addLog: () => undefined,
    });
  }
}

function escalationDispatch(draft: Draft, handler: string, params: Dispatch['params']): Dispatch {
  const blockId = `_escalation:${handler}`;
  return {
    frameKey: '',
    blockId,
    iteration: '',
    handler,
    params,
    attempt: 0,
    redelivery: false,
    pure: false,
    timeoutMs: ESCALATION_TIMEOUT_MS,
    shielded: false,
    context: { data: draft.record.data, config: draft.record.config, audit: [], runtime: {} },
    idempotencyKey: `${draft.record.id}:${draft.record.runId}:${blockId}:-`,
    intentFirst: false,
    leaf: ESCALATION_LEAF,
  };
}

const ESCALATION_LEAF: Dispatch['leaf'] = {
  state: 'running',
  reason: null,
  wakeAt: null,
  attempt: 0,
  startedAt: 0,
  dispatchedAt: 0,
  redeliveries: 0,
  passed: { when: true, delay: true, gate: true },
  gate: null,
  taskId: null,
  childId: null,
  childEnd: null,
  keyRunId: null,
  error: null,
};

/** Instances that a commit has set due besides its own: children, and the parent of a child that ended. */
export function hintsOf(draft: Draft, turn: TurnCommit): readonly Hint[] {
  const { tenantId } = turn;
  const touches = turn.childrenStarted.length + turn.childrenCancelled.length > 0;
  if (!touches && (turn.settle === null || draft.record.parent === null)) return [];
  const ids = [
    ...turn.childrenStarted.map((child) => child.id),
    ...turn.childrenCancelled.map((child) => child.instanceId),
  ];
  if (turn.settle !== null && isTerminal(turn.settle.state) && draft.record.parent !== null) {
    ids.push(draft.record.parent.instanceId);
  }
  return ids.map((instanceId) => ({ tenantId, instanceId, delayMs: 0 }));
}
