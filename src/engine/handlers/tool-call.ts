import type { Failure } from '../../core/failure.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import { shownUrl } from '../../core/network/outbound-url.ts';
import { ok, type Result } from '../../core/result.ts';
import { cutText, storableText } from '../../core/storable-text.ts';
import type { HttpEffects, OutboundResult } from '../../ports/effects.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { artifactIdOf, loadArtifact, MAX_ARTIFACT_BYTES, storeArtifact } from './artifacts.ts';
import type { HttpRequestSettings } from './http-request.ts';
import { multipartBody } from './multipart.ts';
import { parseBody, problemFailure, requestOf, statusFailure, textOf } from './outbound-call.ts';
import { failed, failureOf, permanent } from './outcomes.ts';
import { parseToolCall, type ToolCallParams } from './tool-call-params.ts';

const NAME = 'tool_call';
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
const MAX_PREVIEW_BYTES = 512;

/** `tool_call` (handlers.md 5.2): an HTTP tool with a fixed envelope. Result `{"tool_name", "result", "status"}` [TOOL-2]. */
export function createToolCallHandler(effects: HttpEffects, settings: HttpRequestSettings = {}): StepHandler {
  const parse = (params: Json) => parseToolCall(params, settings.allowInternal ?? false);
  return {
    name: NAME,
    kind: 'effect',
    checkParams: (params) => failureOf(parse(params)),
    dryRun: (call) => {
      const parsed = parse(call.params);
      if (!parsed.ok) return failed(parsed.error);
      const { url, method, toolName } = parsed.value;
      const output = {
        dry_run: true,
        handler: NAME,
        would: { url, method },
        tool_name: toolName,
        result: null,
      };
      return { ok: true, output };
    },
    run: async (call) => {
      const parsed = parse(call.params);
      return parsed.ok ? callTool(effects, parsed.value, call) : failed(parsed.error);
    },
  };
}

async function callTool(effects: HttpEffects, params: ToolCallParams, call: StepCall): Promise<StepOutcome> {
  const body = await bodyOf(params, call);
  if (!body.ok) return failed(body.error);
  const maxResponseBytes = params.asArtifact ? MAX_ARTIFACT_BYTES : MAX_RESPONSE_BYTES;
  const result = await effects.send(requestOf({ ...params, ...body.value, maxResponseBytes }, call));
  if (!result.ok) return failed(problemFailure(NAME, result.reason, result.message));
  const { status, headers } = result;
  if (status < 200 || status > 399) {
    const answer = { status, headers, text: textOf(result.body) };
    return failed(statusFailure(NAME, answer, params, call.nowMs, (text) => parseBody(text) ?? text));
  }
  if (params.asArtifact && status < 300) return artifactResult(params, result, call);
  return jsonResult(params, status, textOf(result.body));
}

interface Sent {
  readonly body: string | Uint8Array | undefined;
  readonly contentType: string;
}

/** [TOOL-1], [TOOL-4]: the envelope, or the bytes of an artifact. */
async function bodyOf(params: ToolCallParams, call: StepCall): Promise<Result<Sent, Failure>> {
  if (!params.sendsArtifact) {
    const { instanceId, blockId, attempt } = call;
    const context = { instance_id: instanceId, block_id: blockId, attempt };
    const envelope = { tool_name: params.toolName, arguments: params.arguments, context };
    const body = params.method === 'GET' ? undefined : canonicalJson(envelope);
    return ok({ body, contentType: 'application/json' });
  }
  const artifact = await loadArtifact(NAME, call, 'body_artifact', MAX_ARTIFACT_BYTES);
  if (!artifact.ok) return artifact;
  const { bytes, contentType } = artifact.value;
  if (params.upload === null) return ok({ body: bytes, contentType });
  return ok(multipartBody(params.upload, contentType, bytes, call.idempotencyKey));
}

function jsonResult(params: ToolCallParams, status: number, text: string): StepOutcome {
  const { toolName, url } = params;
  const result = text.trim() === '' ? null : parseBody(text);
  if (result !== undefined) return { ok: true, output: { tool_name: toolName, result, status } };
  const message = `${NAME}: the answer of ${shownUrl(new URL(url))} is not usable JSON`;
  const preview = cutText(storableText(text), MAX_PREVIEW_BYTES);
  return failed(permanent('BAD_RESPONSE', message, { status, body_preview: preview }));
}

async function artifactResult(
  { toolName }: ToolCallParams,
  result: Extract<OutboundResult, { ok: true }>,
  call: StepCall,
): Promise<StepOutcome> {
  const artifact = await storeArtifact(NAME, call, artifactIdOf(call), result);
  if (!artifact.ok) return failed(artifact.error);
  return { ok: true, output: { tool_name: toolName, artifact: artifact.value, status: result.status } };
}
