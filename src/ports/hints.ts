/**
 * A hint says only "look at this instance" (DESIGN 5). Losing, repeating, delaying or reordering hints changes latency
 * and nothing else. Never rejects: a hint that cannot be sent is a hint that was lost.
 */
export interface Hints {
  /** Sends hints for instances; `delayMs` up to 15 minutes. */
  send(hints: readonly Hint[]): void;
}

export interface Hint {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly delayMs: number;
}
