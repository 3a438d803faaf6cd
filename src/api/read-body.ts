import { type DoorLimits, parseJsonAtDoor } from '../core/json-door.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { refuse, type Refusal, type Refused } from '../engine/refusal.ts';

/**
 * The bytes of a body, read no further than the limit: a body without length, or one that says less than it sends, is cut
 * off where it becomes too large (413).
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Result<Uint8Array, Refusal>> {
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > maxBytes) return tooLarge(maxBytes);
  if (request.body === null) return ok(new Uint8Array(0));
  return drain(request.body.getReader(), maxBytes);
}

async function drain(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Result<Uint8Array, Refusal>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return ok(joined(chunks, size));
      size += value.byteLength;
      if (size > maxBytes) {
        // Not awaited: the other end may never notice.
        reader.cancel().catch(() => undefined);
        return tooLarge(maxBytes);
      }
      chunks.push(value);
    }
  } catch {
    return refuse('invalid_argument', 'the body could not be read to its end', { code: 'body_cut_off' });
  }
}

/**
 * The JSON value of a body, undefined when it is empty. 415 for another media type than JSON, 413 too large, 400 for what
 * is not JSON (in UTF-8, without byte order mark), 422 with a pointer for JSON that is not taken (RULINGS B11).
 */
export async function readJson(
  request: Request,
  maxBytes: number,
  limits: DoorLimits,
): Promise<Result<Json | undefined, Refusal>> {
  const isJson = isJsonType(request.headers.get('content-type'));
  // Of a body of another type only so much is read as shows that there is one.
  const bytes = await readBytes(request, isJson ? maxBytes : 0);
  if (!isJson)
    return bytes.ok ? ok(undefined) : refuse('unsupported_media_type', 'the body must be application/json');
  return bytes.ok ? parseJsonBytes(bytes.value, limits) : bytes;
}

/** As `readJson`, for bytes that have been read. */
export function parseJsonBytes(bytes: Uint8Array, limits: DoorLimits): Result<Json | undefined, Refusal> {
  if (bytes.byteLength === 0) return ok(undefined);
  const text = decodeUtf8(bytes);
  if (text === null)
    return refuse('invalid_argument', 'the body is not JSON: it is not valid UTF-8', {
      code: 'invalid_json',
    });
  const parsed = parseJsonAtDoor(text, limits);
  if (parsed.ok) return parsed;
  const { error } = parsed;
  if (error.kind === 'syntax')
    return refuse('invalid_argument', `the body is not JSON: it ${error.message}`, { code: 'invalid_json' });
  const { pointer, message } = error;
  return refuse('unprocessable_entity', `${pointer === '' ? 'the body' : pointer} ${message}`, {
    code: 'unacceptable_json',
    details: [{ pointer, message }],
  });
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isJsonType(contentType: string | null): boolean {
  return /^application\/json[ \t]*(;|$)/i.test(contentType?.trim() ?? '');
}

function tooLarge(maxBytes: number): Refused {
  return refuse('payload_too_large', `the body exceeds ${maxBytes} bytes`, { code: 'body_too_large' });
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const only = chunks[0];
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
