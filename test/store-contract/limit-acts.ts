import type { BreakerOutcome, Takes } from '../../src/core/run/limits/takes.ts';
import type { NewResource } from '../../src/ports/store/limits.ts';
import type { Claim, FrameWrite, TurnCommit } from '../../src/ports/store/turn.ts';
import { TENANT, frame, leaf, nextId, turnOf } from '../support/turn-builder.ts';
import type { World } from './world.ts';

export const RULE = { threshold: 2, cooldownMs: 60_000 };
export const failed = (handler: string): BreakerOutcome => ({ handler, ok: false, error: 'boom', ...RULE });
export const succeeded = (handler: string): BreakerOutcome => ({ handler, ok: true });

/** The write of a root frame whose leaf is to begin when limits give what it takes. */
export function asking(takes: Takes, before = frame()): FrameWrite {
  const taken = takes.rate === undefined ? {} : { rate: true as const };
  const intent = { ...before, leaf: leaf({ dispatchedAt: 7, taken }) };
  return { frame: before, intent, takes, held: { ...before, leaf: leaf({ startedAt: 3 }) } };
}

/** Asks in a commit of a fresh instance; answers what the limits say. */
export async function ask(world: World, takes: Takes, more: Partial<TurnCommit> = {}) {
  const claim = await world.claim(await world.start());
  const verdict = await world.apply(turnOf(claim, { frames: [asking(takes)], ...more }));
  return { claim, answer: verdict.taken?.[0], verdict };
}

export async function tell(world: World, ...outcomes: readonly BreakerOutcome[]): Promise<Claim> {
  const claim = await world.claim(await world.start());
  await world.apply(turnOf(claim, { outcomes }));
  return claim;
}

export async function limitTo(world: World, maxCount: number, windowMs = 60_000, resourceKey = 'mail') {
  return world.store.putRateLimit({ tenantId: TENANT, resourceKey, maxCount, windowMs });
}

export function resource(overrides: Partial<NewResource> = {}): NewResource {
  return {
    id: nextId(),
    resourceKey: 'r1',
    name: 'first',
    weight: 1,
    enabled: true,
    dailyCap: 0,
    warmupStart: null,
    warmupDays: 0,
    warmupStartCap: 0,
    ...overrides,
  };
}

export async function poolOf(
  world: World,
  strategy: 'round_robin' | 'weighted' | 'random',
  ...all: NewResource[]
) {
  const pool = await world.store.createPool({ id: nextId(), tenantId: TENANT, name: 'senders', strategy });
  for (const one of all) await world.store.addResource(TENANT, pool.id, one);
  return pool;
}
