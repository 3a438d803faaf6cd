import type { HttpEffects } from '../../ports/effects.ts';
import {
  createGuardedClient,
  type BodyResult,
  type GuardedClientSettings,
  type Reached,
} from './guarded-client.ts';
import type { Hop } from './redirect.ts';

/** `deflate` is not among them: Workers hand such a body on as it came. */
const CODINGS = 'gzip, br';

export type FetchClientSettings = Omit<GuardedClientSettings, 'codings' | 'reach'>;

/**
 * The outbound HTTP client where there is only `fetch` (RULINGS B16): addresses in URLs, names and every hop are checked,
 * redirects are followed here and not by the platform. What a name resolves to cannot be seen there, nor can the connection
 * be pinned; on Workers requests leave from the network's edge, from where no private network can be reached.
 */
export function createFetchClient(settings: FetchClientSettings): HttpEffects {
  return createGuardedClient({ ...settings, codings: CODINGS, reach });
}

async function reach({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<Reached> {
  const request: RequestInit = {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  };
  try {
    return answerOf(await fetch(url.href, request));
  } catch (error) {
    return { ok: false, reason: 'network', code: error instanceof Error ? error.name : 'Error' };
  }
}

function answerOf(response: Response): Reached {
  return {
    ok: true,
    status: response.status,
    headers: [...response.headers],
    location: response.headers.get('location') ?? undefined,
    readBody: (maxBytes) => readBody(response, maxBytes),
    close: () => {
      // A body that was read to its end, or is being read, refuses; there is nothing to end then.
      response.body?.cancel().catch(() => undefined);
    },
  };
}

/** Reads what the platform has decompressed, up to the bound [NET-8]. */
async function readBody({ body }: Response, maxBytes: number): Promise<BodyResult> {
  if (body === null) return { ok: true, body: new Uint8Array(0) };
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { ok: true, body: joined(chunks, bytes) };
      bytes += value.byteLength;
      if (bytes > maxBytes) return { ok: false, reason: 'too_large' };
      chunks.push(value);
    }
  } catch {
    return { ok: false, reason: 'network' };
  } finally {
    reader.releaseLock();
  }
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}
