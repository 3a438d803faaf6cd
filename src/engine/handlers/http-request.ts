import { canonicalJson, type Json } from '../../core/json.ts';
import { shownUrl } from '../../core/network/outbound-url.ts';
import { storableText } from '../../core/storable-text.ts';
import type { HttpEffects } from '../../ports/effects.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { artifactIdOf, storeArtifact } from './artifacts.ts';
import { type HttpRequestParams, parseHttpRequestParams } from './http-request-params.ts';
import { parseBody, problemFailure, requestOf, statusFailure, textOf } from './outbound-call.ts';

const NAME = 'http_request';

export interface HttpRequestSettings {
  /** The process setting of [NET-6]; default false. Must be the one the HTTP client was made with. */
  readonly allowInternal?: boolean;
}

/**
 * `http_request` (handlers.md 5.1) over the given outbound client. Result for 200-399 `{"status", "body"}`; other
 * statuses are HTTP_ERROR, retryable for 5xx, 408, 425 and 429; see [HTTP-4] for the rest. In a dry run a stub [HTTP-5].
 */
export function createHttpRequestHandler(
  effects: HttpEffects,
  settings: HttpRequestSettings = {},
): StepHandler {
  const allowInternal = settings.allowInternal ?? false;
  const parse = (params: Json) => parseHttpRequestParams(params, allowInternal);
  return {
    name: NAME,
    kind: 'effect',
    checkParams: (params) => {
      const parsed = parse(params);
      return parsed.ok ? null : parsed.error;
    },
    dryRun: (call) => {
      const parsed = parse(call.params);
      if (!parsed.ok) return { ok: false, failure: parsed.error };
      const { method, url } = parsed.value;
      const output = { dry_run: true, handler: NAME, would: { method, url }, status: 0, body: '' };
      return { ok: true, output };
    },
    run: async (call) => {
      const parsed = parse(call.params);
      return parsed.ok ? await request(effects, parsed.value, call) : { ok: false, failure: parsed.error };
    },
  };
}

async function request(
  effects: HttpEffects,
  params: HttpRequestParams,
  call: StepCall,
): Promise<StepOutcome> {
  const body = params.json === undefined ? params.body : canonicalJson(params.json);
  const result = await effects.send(requestOf({ ...params, body, contentType: 'application/json' }, call));
  if (!result.ok) return { ok: false, failure: problemFailure(NAME, result.reason, result.message) };
  const { status, headers } = result;
  if (status < 200 || status > 399) {
    const answer = { status, headers, text: textOf(result.body) };
    return { ok: false, failure: statusFailure(NAME, answer, params, call.nowMs) };
  }
  if (params.responseAs === 'artifact') {
    const artifact = await storeArtifact(NAME, call, artifactIdOf(call), result);
    return artifact.ok
      ? { ok: true, output: { status, artifact: artifact.value } }
      : { ok: false, failure: artifact.error };
  }
  return success(status, textOf(result.body), params);
}

function success(status: number, text: string, params: HttpRequestParams): StepOutcome {
  if (params.responseAs === 'text') return { ok: true, output: { status, body: storableText(text) } };
  const body = parseBody(text);
  if (body !== undefined) return { ok: true, output: { status, body } };
  const message = `${NAME}: the answer of ${shownUrl(new URL(params.url))} is not usable JSON`;
  return { ok: false, failure: { message, retryable: false, code: 'BAD_RESPONSE', details: { status } } };
}
