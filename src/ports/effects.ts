/**
 * Outbound HTTP, the only way handlers reach the world. The adapter enforces the network rules of handlers.md 2: scheme,
 * blocked addresses on every hop, the connection pinned to a checked address, no automatic redirect, capped bodies.
 */
export interface HttpEffects {
  send(request: OutboundRequest): Promise<OutboundResult>;
}

export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadonlyArray<readonly [string, string]>;
  /** Header names whose value came from a credential; dropped when a redirect changes host, port or scheme ([NET-4]). */
  readonly secretHeaders?: readonly string[];
  readonly body?: string | Uint8Array;
  /** A redirect that would turn the request into a GET without its body is refused instead of followed. */
  readonly keepsBody?: true;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

export type OutboundResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: ReadonlyArray<readonly [string, string]>;
      readonly body: Uint8Array;
    }
  | {
      readonly ok: false;
      readonly reason: OutboundProblem;
      readonly message: string;
      /** `redirect`: the hop that a redirect led to was refused. Of `network`: the code of the machine's error. */
      readonly code?: string;
    };

/** `blocked` and `too_large` are permanent, the others may be tried again. */
export type OutboundProblem = 'blocked' | 'dns' | 'network' | 'timeout' | 'aborted' | 'too_large';
