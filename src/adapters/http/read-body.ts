import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { BodyResult } from './guarded-client.ts';

type Coding = 'gzip' | 'deflate' | 'br';

/** Longest chain of codings that is undone; each one multiplies what a bomb can do. */
const MAX_CODINGS = 3;

/**
 * Reads a response body up to `maxBytes` of decompressed content [NET-8]. The bytes on the wire are bounded too, since
 * a compressed stream may go on for ever without giving anything. A coding we do not know is left as it is. A body that
 * ends early or is damaged gives `network`. The caller ends the wait by destroying the response.
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<BodyResult> {
  const codings = parseCodings(response.headers['content-encoding']);
  if (codings.length > MAX_CODINGS) return { ok: false, reason: 'network' };
  const bound: Bound = { exceeded: false };
  const wireLimit = maxBytes + Math.ceil(maxBytes / 8) + 64 * 1024;
  let content: AsyncIterable<Uint8Array> = within(
    response,
    codings.length === 0 ? maxBytes : wireLimit,
    bound,
  );
  // Codings are listed in the order they were applied, so the last one is undone first.
  for (const coding of codings.toReversed()) content = within(decoded(content, coding), maxBytes, bound);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return { ok: true, body: Buffer.concat(chunks) };
  } catch {
    return { ok: false, reason: bound.exceeded ? 'too_large' : 'network' };
  }
}

interface Bound {
  exceeded: boolean;
}

/** The codings to undo; none when one of them is unknown, as the content is then left as it came. */
function parseCodings(header: string | undefined): readonly Coding[] {
  const codings: Coding[] = [];
  for (const name of (header ?? '').toLowerCase().split(',')) {
    const coding = name.trim();
    if (coding === '' || coding === 'identity') continue;
    if (coding === 'gzip' || coding === 'x-gzip') codings.push('gzip');
    else if (coding === 'deflate' || coding === 'br') codings.push(coding);
    else return [];
  }
  return codings;
}

/** The same chunks, until more than `maxBytes` have come; then it throws and marks the bound. */
async function* within(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  bound: Bound,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      bound.exceeded = true;
      throw new Error('the body is larger than allowed');
    }
    yield chunk;
  }
}

async function* decoded(source: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  // An empty body with a coding is empty, although no compressed stream is.
  if (first.done === true) return;
  const decoder = pipeline(resumed(first.value, chunks), createDecoder(coding, first.value), () => undefined);
  yield* decoder;
}

async function* resumed(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function createDecoder(coding: Coding, first: Uint8Array) {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      // Some servers leave the zlib wrapper out; its first byte has 8 in the lower half.
      return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw();
  }
}
