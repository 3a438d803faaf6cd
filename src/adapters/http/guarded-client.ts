import { cleanHeaders, type Header, withDefaultHeader } from '../../core/network/outbound-headers.ts';
import { shownUrl, urlProblem } from '../../core/network/outbound-url.ts';
import type { HttpEffects, OutboundProblem, OutboundRequest, OutboundResult } from '../../ports/effects.ts';
import type { Clock } from '../../ports/system.ts';
import { type Hop, nextHop } from './redirect.ts';

/** Most redirects that are followed [NET-4]. */
const MAX_REDIRECTS = 10;

export interface GuardedClientSettings {
  readonly clock: Pick<Clock, 'after'>;
  /** `stepwell/<version>` [NET-9]. */
  readonly userAgent: string;
  /** STEPWELL_ALLOW_INTERNAL_URLS, parsed by `parseAllowInternal`; never from a document [NET-6]. */
  readonly allowInternal: boolean;
  /** Host patterns of a tenant that narrow further [NET-7]; absent: every public host. */
  readonly allowedHosts?: readonly string[];
  /** Content codings that are asked for: those which the platform undoes. */
  readonly codings: string;
  readonly reach: Reach;
}

/**
 * The platform's part: checks what it can learn of the host beyond its name, sends one request, and waits for the head of
 * the answer. Redirects are never followed here.
 */
export type Reach = (hop: Hop, signal: AbortSignal) => Promise<Reached>;

export type Reached =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly Header[];
      readonly location: string | undefined;
      readonly readBody: (maxBytes: number) => Promise<BodyResult>;
      /** Ends the exchange; must be called when done. */
      readonly close: () => void;
    }
  | { readonly ok: false; readonly reason: 'network'; readonly code: string }
  | { readonly ok: false; readonly reason: 'blocked' | 'dns' };

export type BodyResult =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly reason: 'too_large' | 'network' };

/**
 * The outbound HTTP client (handlers.md 2, RULINGS B16) as far as it is the same on every platform: scheme, host and
 * headers are checked on every hop. `timeoutMs` covers the whole exchange: names, redirects and the last byte of the body.
 */
export function createGuardedClient(settings: GuardedClientSettings): HttpEffects {
  return { send: (request) => send(request, settings) };
}

function send(request: OutboundRequest, settings: GuardedClientSettings): Promise<OutboundResult> {
  return new Promise((settle, fail) => {
    const stop = new AbortController();
    const release = (): void => {
      cancelTimer();
      request.signal.removeEventListener('abort', onAbort);
      // Ends whatever still runs; after a complete answer there is nothing left to end.
      stop.abort();
    };
    const finish = (result: OutboundResult): void => {
      settle(result);
      release();
    };
    const crash = (error: unknown): void => {
      fail(error);
      release();
    };
    const onAbort = (): void => finish(refusal('aborted', 'the request was cancelled'));
    const onTimeout = (): void =>
      finish(refusal('timeout', `no complete answer within ${request.timeoutMs} ms`));
    const cancelTimer = settings.clock.after(request.timeoutMs, onTimeout);
    request.signal.addEventListener('abort', onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    else follow(request, settings, stop.signal).then(finish, crash);
  });
}

/** Sends the request and follows its redirects, each hop checked like the first [NET-4]. */
async function follow(
  request: OutboundRequest,
  settings: GuardedClientSettings,
  signal: AbortSignal,
): Promise<OutboundResult> {
  const first = firstHop(request, settings);
  if (!first.ok) return first;
  let hop = first.hop;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const step = await takeHop(hop, request, settings, signal);
    if (step.type === 'result') return redirects === 0 ? step.result : ofRedirect(step.result);
    hop = step.hop;
  }
  return ofRedirect(refusal('blocked', `blocked: more than ${MAX_REDIRECTS} redirects`));
}

type HopStep =
  | { readonly type: 'result'; readonly result: OutboundResult }
  | { readonly type: 'hop'; readonly hop: Hop };

async function takeHop(
  hop: Hop,
  request: OutboundRequest,
  settings: GuardedClientSettings,
  signal: AbortSignal,
): Promise<HopStep> {
  const problem = urlProblem(hop.url, settings);
  if (problem !== null) return { type: 'result', result: refusal('blocked', problem) };
  const shown = shownUrl(hop.url);
  const answer = await settings.reach(hop, signal);
  if (!answer.ok && answer.reason !== 'network') {
    return { type: 'result', result: hostRefusal(answer.reason, shown) };
  }
  if (!answer.ok) {
    const failed = refusal('network', `no answer from ${shown} (${answer.code})`);
    return { type: 'result', result: { ...failed, code: answer.code } };
  }
  try {
    const next = nextHop(hop, answer.status, answer.location, request.secretHeaders ?? []);
    if (next.type === 'hop' && request.keepsBody === true && next.hop.body === undefined) {
      const lost = refusal('blocked', `blocked: status ${answer.status} of ${shown} would drop the body`);
      return { type: 'result', result: ofRedirect(lost) };
    }
    if (next.type === 'hop') return next;
    if (next.type === 'refused') {
      return { type: 'result', result: ofRedirect(refusal('blocked', next.message)) };
    }
    const body = await answer.readBody(request.maxResponseBytes);
    if (body.ok)
      return {
        type: 'result',
        result: { ok: true, status: answer.status, headers: answer.headers, body: body.body },
      };
    return { type: 'result', result: bodyRefusal(body.reason, shown, request.maxResponseBytes) };
  } finally {
    answer.close();
  }
}

function firstHop(
  request: OutboundRequest,
  { userAgent, codings }: GuardedClientSettings,
): { ok: true; hop: Hop } | (OutboundResult & { ok: false }) {
  if (!URL.canParse(request.url)) return refusal('blocked', 'blocked: not a valid absolute URL');
  const cleaned = cleanHeaders(request.headers);
  if (!cleaned.ok) return refusal('blocked', `blocked: ${cleaned.error}`);
  let headers: readonly Header[] = withDefaultHeader(cleaned.value, 'User-Agent', userAgent);
  headers = withDefaultHeader(headers, 'Accept', '*/*');
  headers = withDefaultHeader(headers, 'Accept-Encoding', codings);
  return {
    ok: true,
    hop: { method: request.method, url: new URL(request.url), headers, body: request.body },
  };
}

/** Says of a refused hop that a redirect led to it. */
function ofRedirect(result: OutboundResult): OutboundResult {
  return result.ok || result.reason !== 'blocked' ? result : { ...result, code: 'redirect' };
}

function hostRefusal(reason: 'blocked' | 'dns', shown: string): OutboundResult {
  if (reason === 'dns') return refusal('dns', `the host of ${shown} cannot be resolved`);
  return refusal('blocked', `blocked: the host of ${shown} has an address that is not public`);
}

function bodyRefusal(reason: 'too_large' | 'network', shown: string, maxBytes: number): OutboundResult {
  if (reason === 'network') return refusal('network', `the answer of ${shown} is incomplete or damaged`);
  return refusal('too_large', `the answer of ${shown} has more than ${maxBytes} bytes`);
}

function refusal(
  reason: OutboundProblem,
  message: string,
): { ok: false; reason: OutboundProblem; message: string } {
  return { ok: false, reason, message };
}
