import type { Json } from '../../../src/core/json.ts';
import type { HttpEffects, OutboundRequest, OutboundResult } from '../../../src/ports/effects.ts';
import type { VirtualTime } from '../../engine/support/virtual-time.ts';

/** How the probe answers one call. It counts the call when it comes in, whatever becomes of it. */
export interface ProbeAnswer {
  readonly status?: number;
  readonly body?: Json;
  /** Virtual time until the answer; null: never. */
  readonly takesMs?: number | null;
}

export interface ProbeCall {
  readonly key: string;
  readonly at: number;
  readonly body: string;
}

/** A small HTTP target outside: it counts calls by key, can wait, fail, or never answer. */
export interface Probe extends HttpEffects {
  readonly calls: readonly ProbeCall[];
  count(key: string): number;
  /** Keys in the order of their calls. */
  keys(): readonly string[];
  /** Instants of the calls of a key. */
  times(key: string): readonly number[];
  /** From now on the calls of this key are answered so; `nth` counts all calls of the key from 0. */
  answer(key: string, plan: ProbeAnswer | ((nth: number) => ProbeAnswer)): void;
}

/** Its address: the key is the path. */
export const probeUrl = (key: string): string => `https://probe.example/${key}`;

export function createProbe(time: VirtualTime): Probe {
  const calls: ProbeCall[] = [];
  const plans = new Map<string, (nth: number) => ProbeAnswer>();
  const of = (key: string): readonly ProbeCall[] => calls.filter((call) => call.key === key);
  return {
    calls,
    count: (key) => of(key).length,
    keys: () => calls.map(({ key }) => key),
    times: (key) => of(key).map(({ at }) => at),
    answer: (key, plan) => plans.set(key, typeof plan === 'function' ? plan : () => plan),
    send: (request) => {
      const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
      const nth = of(key).length;
      calls.push({ key, at: time.now, body: textOf(request.body) });
      return reply(time, request, plans.get(key)?.(nth) ?? {});
    },
  };
}

function reply(time: VirtualTime, request: OutboundRequest, answer: ProbeAnswer): Promise<OutboundResult> {
  const { status = 200, body = {}, takesMs = 0 } = answer;
  const problem = (reason: 'timeout' | 'aborted'): OutboundResult => ({ ok: false, reason, message: reason });
  return new Promise((resolve) => {
    request.signal.addEventListener('abort', () => resolve(problem('aborted')));
    if (takesMs === null || takesMs > request.timeoutMs) {
      time.at(time.now + request.timeoutMs, () => resolve(problem('timeout')));
      return;
    }
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    time.at(time.now + takesMs, () => resolve({ ok: true, status, headers: [], body: bytes }));
  });
}

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}
