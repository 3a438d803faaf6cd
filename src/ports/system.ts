/** The machine as the engine sees it. Only src/adapters/system.ts touches the real clock and randomness. */
export interface Clock {
  /** Wall clock, epoch milliseconds. Never used for ordering or leases; those use database time. */
  nowMs(): number;
  /** Milliseconds that only grow, also over a clock jump. */
  monotonicMs(): number;
  /** Calls back once, after the work that is ready now: what gathers for one tick shares a commit. */
  soon(callback: () => void): void;
  /** Calls back once after at least `delayMs`; returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export interface Entropy {
  bytes(length: number): Uint8Array;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log. Values are never payloads of users. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
