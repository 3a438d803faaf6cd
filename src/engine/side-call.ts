import type { Json } from '../core/json.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { freshLeaf } from '../core/run/leaf/fresh-leaf.ts';
import { CallAbort } from './call-abort.ts';
import { callHandler } from './call-handler.ts';
import type { CallOutcome, HandlerCall } from './handler-call.ts';
import type { TurnDeps } from './turn-deps.ts';

/** A call beside the steps of a run: it has no node. What it wants written is the caller's to take or to drop. */
export interface SideCall {
  readonly handler: string;
  readonly params: Json;
  /** Stands where a step has its block id. */
  readonly name: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** What a handler may read of the run, and how long it is asked for again when the store does not answer. */
type Reading = Pick<HandlerCall, 'readState' | 'countState' | 'mayWait'>;

const NO_STATE: Reading = {
  readState: () => Promise.resolve(undefined),
  countState: () => Promise.resolve(0),
};

/** True when a handler has answered with more than a value. */
export function isWriting({ writes, outside, injects }: Extract<CallOutcome, { ok: true }>): boolean {
  return writes.length > 0 || outside !== undefined || injects !== undefined;
}

/** Calls a handler of this process, bounded. null: it has none of this name. Never rejects. */
export async function callAside(
  deps: TurnDeps,
  draft: Draft,
  call: SideCall,
  state: Reading = NO_STATE,
): Promise<CallOutcome | null> {
  const found = deps.handlers.lookup(call.handler);
  if (found.type !== 'handler') return null;
  return callHandler(deps, {
    dispatch: dispatchOf(draft, call),
    handler: found.handler,
    record: draft.record,
    outputs: draft.knowledge.knownOutputs,
    nowMs: draft.env.now,
    controller: new CallAbort(),
    leftMs: call.timeoutMs,
    ...state,
    addLog: () => undefined,
  });
}

function dispatchOf(draft: Draft, call: SideCall): Dispatch {
  const { record, env } = draft;
  const { name, iteration } = call;
  const { data, config } = record;
  return {
    frameKey: '',
    blockId: name,
    iteration,
    handler: call.handler,
    params: call.params,
    attempt: call.attempt,
    // Who held the lease before may have called it already.
    redelivery: draft.lostCalls.takenOver,
    pure: false,
    timeoutMs: call.timeoutMs,
    shielded: false,
    context: () => ({ data, config, audit: [], runtime: {} }),
    idempotencyKey: `${record.id}:${record.runId}:${name}:${iteration === '' ? '-' : iteration}`,
    intentFirst: false,
    leaf: freshLeaf(env.now),
  };
}
