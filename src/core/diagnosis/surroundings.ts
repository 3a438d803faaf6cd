import type { InstanceState } from '../run/states.ts';

/** What stands around one instance and may keep it from going on. Lists are bounded. Instants are epoch ms. */
export interface Surroundings {
  /** By handler asked for: versions of the workers that polled for it lately; null for one that names none. */
  readonly workers: ReadonlyArray<{
    readonly handler: string;
    readonly versions: ReadonlyArray<string | null>;
  }>;
  readonly pins: ReadonlyArray<{ readonly handler: string; readonly minVersion: string }>;
  /** Circuit breakers of the tenant that are not closed. */
  readonly breakers: readonly OpenBreaker[];
  /** Of the instances asked for those that there are. */
  readonly children: ReadonlyArray<{ readonly id: string; readonly state: InstanceState }>;
  /** Of the concurrency key; null when none was asked for. */
  readonly slots: SlotsOfKey | null;
  /** Of the rate keys asked for those that are limited. */
  readonly rates: readonly RateOfKey[];
}

export interface OpenBreaker {
  readonly handler: string;
  readonly state: 'open' | 'half_open';
  readonly openedAt: number;
  readonly cooldownMs: number;
  readonly failureCount: number;
}

export interface SlotsOfKey {
  /** Instances of the key that run, the longest first; at most as many as were asked for. */
  readonly holders: readonly string[];
  readonly holderCount: number;
  /** Instances that are given a slot before the one that is diagnosed. */
  readonly aheadCount: number;
}

export interface RateOfKey {
  readonly key: string;
  readonly count: number;
  readonly max: number;
  readonly windowMs: number;
}
