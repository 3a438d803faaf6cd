import type { HttpEffects, OutboundRequest, OutboundResult } from '../../ports/effects.ts';

/** Answers the requests of `http_request` steps in a test. */
export type HttpStub = (request: Request) => Response | Promise<Response>;

/** The outside world of a test: what the stub says, and nothing without one. */
export function stubEffects(stub: HttpStub | undefined): HttpEffects {
  return {
    send: async (request) => {
      if (stub === undefined) {
        const message = 'a test engine has no network: give createTestEngine an http function';
        return { ok: false, reason: 'blocked', message };
      }
      try {
        return await answered(request, await stub(webRequest(request)));
      } catch (error) {
        return {
          ok: false,
          reason: 'network',
          message: error instanceof Error ? error.message : String(error),
        };
      }
    },
  };
}

function webRequest({ url, method, headers, body, signal }: OutboundRequest): Request {
  const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]), signal };
  return new Request(
    url,
    body === undefined ? init : { ...init, body: typeof body === 'string' ? body : body.slice() },
  );
}

async function answered(request: OutboundRequest, response: Response): Promise<OutboundResult> {
  const body = new Uint8Array(await response.arrayBuffer());
  if (body.byteLength > request.maxResponseBytes) {
    const message = `the response exceeds ${request.maxResponseBytes} bytes`;
    return { ok: false, reason: 'too_large', message };
  }
  return { ok: true, status: response.status, headers: [...response.headers], body };
}
