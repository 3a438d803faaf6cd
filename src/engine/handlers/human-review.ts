import type { Failure } from '../../core/failure.ts';
import { canonicalJson, type Json, member } from '../../core/json.ts';
import type { Header } from '../../core/network/outbound-headers.ts';
import { ok, type Result } from '../../core/result.ts';
import type { HttpEffects } from '../../ports/effects.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import type { HttpRequestSettings } from './http-request.ts';
import { headersParam, problemFailure, requestOf, urlParam } from './outbound-call.ts';
import { failed, failureOf } from './outcomes.ts';
import { textOr } from './params.ts';

const NAME = 'human_review';
const NOTIFY_TIMEOUT_MS = 10_000;
/** What the other side answers is of no interest. */
const MAX_ANSWER_BYTES = 64 * 1024;

interface Target {
  readonly url: string;
  readonly headers: readonly Header[];
}

/**
 * `human_review` (handlers.md 7): shows people what a gate asks. With `notify_url` one POST when the gate opens, without a
 * gate when the handler runs; whether it gets through does not matter ([HR-2]). Result [HR-1].
 */
export function createHumanReviewHandler(
  effects: HttpEffects,
  settings: HttpRequestSettings = {},
): StepHandler {
  const parse = (params: Json) => notifyTarget(params, settings.allowInternal ?? false);
  const notify = async (call: StepCall): Promise<StepOutcome> => {
    const target = parse(call.params);
    if (!target.ok) return failed(target.error);
    return target.value === null ? { ok: true, output: null } : send(effects, target.value, call);
  };
  return {
    name: NAME,
    kind: 'effect',
    checkParams: (params) => failureOf(parse(params)),
    notify,
    dryRun: (call) => {
      const target = parse(call.params);
      return target.ok ? { ok: true, output: resultOf(call) } : failed(target.error);
    },
    run: async (call) => {
      const target = parse(call.params);
      if (!target.ok) return failed(target.error);
      if (call.gate === null) await notify(call);
      return { ok: true, output: resultOf(call) };
    },
  };
}

function notifyTarget(params: Json, allowInternal: boolean): Result<Target | null, Failure> {
  const given = member(params, 'notify_url') ?? null;
  if (given === null) return ok(null);
  const url = urlParam(NAME, params, 'notify_url', allowInternal);
  if (!url.ok) return url;
  const headers = headersParam(NAME, params, 'notify_headers');
  return headers.ok ? ok({ url: url.value, headers: headers.value }) : headers;
}

async function send(effects: HttpEffects, target: Target, call: StepCall): Promise<StepOutcome> {
  const body = canonicalJson({
    type: 'human_review_pending',
    instance_id: call.instanceId,
    block_id: call.blockId,
    ...shown(call),
    choices: choicesOf(call),
  });
  const limits = { timeoutMs: NOTIFY_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES };
  const parts = { ...target, ...limits, method: 'POST', body, contentType: 'application/json' };
  const sent = await effects.send(requestOf(parts, call));
  return sent.ok ? { ok: true, output: null } : failed(problemFailure(NAME, sent.reason, sent.message));
}

function resultOf(call: StepCall): Json {
  return {
    type: NAME,
    status: 'pending',
    ...shown(call),
    instance_id: call.instanceId,
    block_id: call.blockId,
    choices: choicesOf(call),
    allow_comment: call.gate?.allowComment ?? false,
  };
}

function shown({ params }: StepCall): { readonly [key: string]: Json } {
  return {
    reviewer: textOr(params, 'reviewer', 'unassigned'),
    instructions: textOr(params, 'instructions', ''),
    review_data: member(params, 'review_data') ?? null,
  };
}

function choicesOf({ gate }: StepCall): Json {
  return (gate?.choices ?? []).map(({ label, value }) => ({ label, value }));
}
