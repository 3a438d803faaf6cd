import type { Failure } from '../../core/failure.ts';
import { decodeBase64, encodeBase64 } from '../../core/expressions/base64.ts';
import { type Json, member, utf8Bytes } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { storableText } from '../../core/storable-text.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { artifactIdOf, keyOf, loadArtifact, MAX_ARTIFACT_BYTES, putArtifact } from './artifacts.ts';
import { failed, failureOf, permanent } from './outcomes.ts';
import { countOr, invalidParams, textOr } from './params.ts';

const PUT = 'blob_put';
const GET = 'blob_get';

interface Content {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** `blob_put` (handlers.md 9): keeps `text` or base64 `data` as an artifact of the instance. */
export const blobPutHandler: StepHandler = {
  name: PUT,
  kind: 'effect',
  checkParams: (params) => failureOf(parsePut(params)),
  dryRun: (call) => {
    const content = parsePut(call.params);
    if (!content.ok) return failed(content.error);
    const { bytes, contentType } = content.value;
    return {
      ok: true,
      output: { dry_run: true, handler: PUT, size: bytes.length, content_type: contentType },
    };
  },
  run: async (call) => {
    const content = parsePut(call.params);
    if (!content.ok) return failed(content.error);
    const { bytes, contentType } = content.value;
    const put = await putArtifact(PUT, call, artifactIdOf(call), contentType, bytes);
    if (!put.ok) return failed(put.error);
    const { key, size } = put.value;
    return { ok: true, output: { artifact: put.value, key, size, content_type: contentType } };
  },
};

/** `blob_get` (handlers.md 9): the bytes of an artifact of this instance, as base64 or as text. */
export const blobGetHandler: StepHandler = {
  name: GET,
  kind: 'pure',
  checkParams: (params) => failureOf(parseGet(params)),
  run: get,
};

async function get(call: StepCall): Promise<StepOutcome> {
  const asked = parseGet(call.params);
  if (!asked.ok) return failed(asked.error);
  const loaded = await loadArtifact(GET, call, 'ref', asked.value.maxBytes);
  if (!loaded.ok) return failed(loaded.error);
  const { bytes } = loaded.value;
  if (asked.value.encoding === 'base64') {
    const data = new TextDecoder().decode(encodeBase64(bytes));
    return { ok: true, output: { data, encoding: 'base64', size: bytes.length } };
  }
  const text = utf8TextOf(bytes);
  if (text === null) return failed(permanent('BAD_RESPONSE', `${GET}: the artifact is not UTF-8 text`));
  return { ok: true, output: { text, encoding: 'utf8', size: bytes.length } };
}

/** null for bytes that are no UTF-8, or text that cannot be stored. */
function utf8TextOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return storableText(text) === text ? text : null;
  } catch {
    return null;
  }
}

function parsePut(params: Json): Result<Content, Failure> {
  const maxBytes = Math.min(countOr(params, 'max_size_bytes', MAX_ARTIFACT_BYTES), MAX_ARTIFACT_BYTES);
  const text = member(params, 'text') ?? null;
  const data = member(params, 'data') ?? null;
  if (text === null && data === null) return err(invalidParams(PUT, 'text', 'or data is required'));
  const content = text === null ? decoded(params, data) : encoded(params, text);
  if (!content.ok) return content;
  if (content.value.bytes.length <= maxBytes) return content;
  return err(invalidParams(PUT, text === null ? 'data' : 'text', `is too large, limit ${maxBytes} bytes`));
}

function encoded(params: Json, text: Json): Result<Content, Failure> {
  if (typeof text !== 'string') return err(invalidParams(PUT, 'text', 'must be a string'));
  const contentType = textOr(params, 'content_type', 'text/plain; charset=utf-8');
  if (utf8Bytes(text) > MAX_ARTIFACT_BYTES) return err(invalidParams(PUT, 'text', 'is too large'));
  return ok({ bytes: new TextEncoder().encode(text), contentType });
}

function decoded(params: Json, data: Json): Result<Content, Failure> {
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined;
  if (bytes === undefined) return err(invalidParams(PUT, 'data', 'must be base64 with padding'));
  return ok({ bytes, contentType: textOr(params, 'content_type', 'application/octet-stream') });
}

function parseGet(
  params: Json,
): Result<{ readonly encoding: 'base64' | 'utf8'; readonly maxBytes: number }, Failure> {
  if (keyOf(member(params, 'ref')) === null)
    return err(invalidParams(GET, 'ref', 'must be a key or an artifact reference'));
  const encoding = member(params, 'encoding') ?? 'base64';
  if (encoding !== 'base64' && encoding !== 'utf8' && encoding !== 'text')
    return err(invalidParams(GET, 'encoding', 'must be base64 or utf8'));
  const maxBytes = Math.min(countOr(params, 'max_size_bytes', MAX_ARTIFACT_BYTES), MAX_ARTIFACT_BYTES);
  return ok({ encoding: encoding === 'base64' ? 'base64' : 'utf8', maxBytes });
}
