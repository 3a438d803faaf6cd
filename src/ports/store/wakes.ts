import type { LimitRef, Wake } from '../../core/run/record.ts';

/** Facts that end timers, or let those look again that a limit has denied. */
export interface WakeStore {
  /** Accepts a wake for one instance. The same fact again changes nothing. */
  wakeInstance(request: WakeRequest): Promise<'accepted' | 'not_found' | 'terminal'>;
  /**
   * Wakes at most `limit` of those that wait for a limit of this tenant, and answers their ids. `more`: others are left.
   * Called after the limit has been changed.
   */
  wakeLimitWaiters(tenantId: string, of: LimitRef, limit: number): Promise<WokenWaiters>;
}

export interface WokenWaiters {
  readonly woken: readonly string[];
  readonly more: boolean;
}

export interface WakeRequest {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly factId: string;
  readonly wake: Wake;
}
