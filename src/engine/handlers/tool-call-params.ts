import type { Failure } from '../../core/failure.ts';
import { isJsonObject, type Json, member } from '../../core/json.ts';
import type { Header } from '../../core/network/outbound-headers.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { keyOf } from './artifacts.ts';
import type { Upload } from './multipart.ts';
import { headersParam, urlParam } from './outbound-call.ts';
import { countOr, invalidParams, textOr } from './params.ts';

const NAME = 'tool_call';
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const DEFAULT_TIMEOUT_MS = 30_000;

export interface ToolCallParams {
  readonly method: string;
  readonly url: string;
  readonly toolName: string;
  readonly arguments: Json;
  readonly headers: readonly Header[];
  readonly timeoutMs: number;
  readonly asArtifact: boolean;
  readonly sendsArtifact: boolean;
  readonly upload: Upload | null;
}

/** Params of `tool_call` (handlers.md 5.2). */
export function parseToolCall(params: Json, allowInternal: boolean): Result<ToolCallParams, Failure> {
  const method = member(params, 'method') ?? 'POST';
  const upper = typeof method === 'string' ? method.toUpperCase() : '';
  if (!METHODS.has(upper))
    return err(invalidParams(NAME, 'method', `must be one of ${[...METHODS].join(', ')}`));
  const url = urlParam(NAME, params, 'url', allowInternal);
  if (!url.ok) return url;
  const headers = headersParam(NAME, params, 'headers');
  if (!headers.ok) return headers;
  const artifacts = parseArtifacts(params);
  if (!artifacts.ok) return artifacts;
  return ok({
    method: upper,
    url: url.value,
    toolName: textOr(params, 'tool_name', 'unknown'),
    arguments: member(params, 'arguments') ?? {},
    headers: headers.value,
    timeoutMs: countOr(params, 'timeout_ms', DEFAULT_TIMEOUT_MS),
    ...artifacts.value,
  });
}

function parseArtifacts(
  params: Json,
): Result<Pick<ToolCallParams, 'asArtifact' | 'sendsArtifact' | 'upload'>, Failure> {
  const responseAs = member(params, 'response_as') ?? null;
  if (responseAs !== null && responseAs !== 'artifact')
    return err(invalidParams(NAME, 'response_as', 'must be artifact'));
  const artifact = member(params, 'body_artifact') ?? null;
  if (artifact !== null && keyOf(artifact) === null)
    return err(invalidParams(NAME, 'body_artifact', 'must be a key or an artifact reference'));
  const upload = member(params, 'upload') ?? null;
  const multipart = isJsonObject(upload) && upload['mode'] === 'multipart';
  if (upload !== null && !multipart)
    return err(invalidParams(NAME, 'upload', 'must be {"mode": "multipart"}'));
  return ok({
    asArtifact: responseAs === 'artifact',
    sendsArtifact: artifact !== null,
    upload: multipart
      ? { field: textOr(upload, 'field', 'file'), filename: textOr(upload, 'filename', 'file') }
      : null,
  });
}
