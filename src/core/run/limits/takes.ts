/**
 * What an attempt has to be given by the store before it may begin (8.1: 6 and 10, RULINGS A32 and B24). The store gives
 * all of it or nothing, in the commit that carries the intent.
 */
export interface Takes {
  /** Key of the rate limit, already resolved. */
  readonly rate?: string;
  readonly breaker?: BreakerAsk;
  readonly pool?: PoolAsk;
}

/** Which breakers must let the attempt through: the handler's own, or the one of its fallback ([CB-4]). */
export interface BreakerAsk {
  readonly handler: string;
  readonly fallback?: { readonly handler: string; readonly tracked: boolean };
}

/** `dice`, from 0 to below 1, decides between the resources of a `weighted` or `random` pool. */
export interface PoolAsk {
  readonly name: string;
  readonly dice: number;
}

/** What the attempt was given. It stays with the leaf until the attempt has ended, whatever crashes in between. */
export interface Taken {
  readonly rate?: true;
  /** The handler whose breaker let the attempt through: the step's, or its fallback. */
  readonly handler?: string;
  /** Only for a probe: how long nobody else may probe ([CB-6]). */
  readonly probeUntil?: number;
  /** `resource_key` of the resource that the pool gave. */
  readonly resource?: string;
}

export type Denial = 'rate_limit' | 'breaker' | 'pool' | 'pool_empty' | 'pool_unknown';

/** The store's word on one leaf. `until`: when asking again may help; epoch ms, null where it does not help by itself. */
export type TakeAnswer =
  | { readonly granted: true; readonly taken: Omit<Taken, 'rate'> }
  | { readonly granted: false; readonly reason: Denial; readonly until: number | null };

/** How one attempt ended, for the breaker of the handler that was called ([CB-2]). */
export type BreakerOutcome =
  | { readonly handler: string; readonly ok: true }
  | ({ readonly handler: string; readonly ok: false; readonly error: string } & BreakerRule);

/** When a breaker opens, and for how long. */
export interface BreakerRule {
  /** Consecutive failures. */
  readonly threshold: number;
  readonly cooldownMs: number;
}

export const DEFAULT_BREAKER_RULE: BreakerRule = { threshold: 5, cooldownMs: 60_000 };

/** A probe that has not answered for so long leaves its place to another ([CB-6]). */
export const PROBE_MS = 60_000;
/** While a probe is out its end is looked for this often. */
export const PROBE_POLL_MS = 5_000;
