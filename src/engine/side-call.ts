import type { Json } from '../core/json.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { freshLeaf } from '../core/run/leaf/fresh-leaf.ts';
import { CallAbort } from './call-abort.ts';
import { callHandler } from './call-handler.ts';
import type { CallOutcome } from './handler-call.ts';
import type { TurnDeps } from './turn-deps.ts';

/** A call beside the steps of a run: it has no node, and what it would write is dropped. */
export interface SideCall {
  readonly handler: string;
  readonly params: Json;
  /** Stands where a step has its block id. */
  readonly name: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** Calls a handler of this process, bounded. null: it has none of this name. Never rejects. */
export async function callAside(deps: TurnDeps, draft: Draft, call: SideCall): Promise<CallOutcome | null> {
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
    readState: () => Promise.resolve(undefined),
    countState: () => Promise.resolve(0),
    addLog: () => undefined,
  });
}

function dispatchOf(draft: Draft, call: SideCall): Dispatch {
  const { record, env } = draft;
  const { name, iteration } = call;
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
    context: { data: record.data, config: record.config, audit: [], runtime: {} },
    idempotencyKey: `${record.id}:${record.runId}:${name}:${iteration === '' ? '-' : iteration}`,
    intentFirst: false,
    leaf: freshLeaf(env.now),
  };
}
