/**
 * A hint says only "look at this instance" (DESIGN 5). Losing, repeating, delaying or reordering hints changes latency
 * and nothing else. Never rejects: a hint that cannot be sent is a hint that was lost.
 */
export interface Hints {
  /** Sends hints for instances; `delayMs` up to 15 minutes. */
  send(hints: readonly Hint[]): void;
  /** A schedule falls due in this time: a process that lives on sets its alarm. Absent: the sweep finds it. */
  expectSchedule?(delayMs: number): void;
}

export interface Hint {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly delayMs: number;
}
