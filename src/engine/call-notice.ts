import type { Draft } from '../core/run/draft.ts';
import type { Dispatch } from '../core/run/env.ts';
import type { Leaf } from '../core/run/frame.ts';
import { idempotencyKey } from '../core/run/idempotency-key.ts';
import type { StepHandler } from '../ports/step-handler.ts';
import type { CallAbort } from './call-abort.ts';
import { callHandler } from './call-handler.ts';
import type { TurnDeps } from './turn-deps.ts';

/** [HR-2]. */
const NOTICE_TIMEOUT_MS = 10_000;

export interface Notice {
  readonly blockId: string;
  readonly iteration: string;
  readonly handler: string;
  readonly leaf: Leaf;
  /** Resolved when the gate opened. */
  readonly params: Dispatch['params'];
  readonly boundMs: number;
  readonly controller: CallAbort;
}

/** Tells somebody that a gate has opened; failures are ignored ([HR-2]). Never rejects. */
export async function callNotice(deps: TurnDeps, draft: Draft, notice: Notice): Promise<void> {
  const found = deps.handlers.lookup(notice.handler);
  const notify = found.type === 'handler' ? found.handler.notify : undefined;
  if (found.type !== 'handler' || notify === undefined) return;
  const handler: StepHandler = { ...found.handler, run: notify };
  const dispatch = noticeDispatch(draft, notice);
  const block = draft.plan.nodes.get(notice.blockId)?.block;
  const asked = block?.type === 'step' ? block.wait_for_input : undefined;
  const outcome = await callHandler(deps, {
    dispatch,
    handler,
    record: draft.record,
    outputs: new Map(),
    nowMs: draft.env.now,
    controller: notice.controller,
    leftMs: Math.min(NOTICE_TIMEOUT_MS, notice.boundMs),
    readState: () => Promise.resolve(undefined),
    countState: () => Promise.resolve(0),
    addLog: () => undefined,
    ...(asked === undefined ? {} : { gate: { choices: asked.choices, allowComment: asked.allow_comment } }),
  });
  if (outcome.ok) return;
  const fields = {
    instance_id: draft.record.id,
    block_id: notice.blockId,
    code: outcome.failure.code ?? null,
  };
  deps.log.warn('a notification of an open gate did not get through', fields);
}

function noticeDispatch(draft: Draft, notice: Notice): Dispatch {
  const { blockId, iteration, handler, params, leaf } = notice;
  return {
    frameKey: '',
    blockId,
    iteration,
    handler,
    params,
    attempt: leaf.attempt,
    redelivery: false,
    pure: false,
    timeoutMs: NOTICE_TIMEOUT_MS,
    shielded: false,
    context: () => ({ data: {}, config: {}, audit: [], runtime: {} }),
    idempotencyKey: idempotencyKey(draft.record, leaf, blockId, iteration),
    intentFirst: false,
    leaf,
  };
}
