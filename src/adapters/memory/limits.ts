import { nextUtcDay, pick, utcDate } from '../../core/limits/pool.ts';
import {
  type BreakerOutcome,
  PROBE_MS,
  PROBE_POLL_MS,
  type TakeAnswer,
  type Takes,
} from '../../core/run/limits/takes.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';
import type { Tx } from './database.ts';
import type { BreakerRow, PoolRow, ResourceRow } from './limit-rows.ts';
import { noteLimitWait } from './limit-waits.ts';

/** Above so many grants a window they are counted by sub-windows, which round against the caller (RULINGS A32). */
const EXACT_MAX = 1000;
const SUB_WINDOWS = 100;

export const limitKey = (tenantId: string, name: string): string => JSON.stringify([tenantId, name]);

/** Handlers of a tenant whose breaker is not closed, as claims and commits tell it; empty when there is none. */
export function openBreakers(tx: Tx, tenantId: string): { readonly openBreakers?: readonly string[] } {
  const open = tx.db.breakers
    .values()
    .filter((row) => row.tenantId === tenantId && row.state !== 'closed')
    .map(({ handler }) => handler);
  return open.length === 0 ? {} : { openBreakers: open };
}

/** What limits say to the intents of a turn, in the order of its frames. Taken is only what is granted as a whole. */
export function takeAll(tx: Tx, turn: TurnCommit): readonly TakeAnswer[] {
  return turn.frames.flatMap(({ takes }) => {
    if (takes === undefined) return [];
    const answer = takeOne(tx, turn, takes);
    if (!answer.granted) noteLimitWait(tx, turn, takes, answer);
    return [answer];
  });
}

function takeOne(tx: Tx, turn: TurnCommit, takes: Takes): TakeAnswer {
  const { tenantId } = turn;
  const rateUntil = takes.rate === undefined ? null : rateWait(tx, tenantId, takes.rate);
  if (rateUntil !== null) return { granted: false, reason: 'rate_limit', until: rateUntil };
  const passage = takes.breaker === undefined ? null : passageOf(tx, tenantId, takes.breaker);
  if (passage !== null && passage.until !== null) {
    return { granted: false, reason: 'breaker', until: passage.until };
  }
  const resource = takes.pool === undefined ? null : resourceOf(tx, tenantId, takes.pool);
  if (resource !== null && !('row' in resource)) return resource;
  if (takes.rate !== undefined) takeRate(tx, tenantId, takes.rate);
  const probeUntil =
    passage === null || !passage.tracked ? null : pass(tx, tenantId, turn.instanceId, passage.handler);
  if (resource !== null) takeResource(tx, resource);
  return {
    granted: true,
    taken: {
      ...(passage === null ? {} : { handler: passage.handler }),
      ...(probeUntil === null ? {} : { probeUntil }),
      ...(resource === null ? {} : { resource: resource.row.resourceKey }),
    },
  };
}

// Rate limits.

/** What grants nothing is not asked again and again: who changes it wakes those that wait. */
const NEVER_MS = 366 * 86_400_000;

/** Forgets grants that have left the window; answers when a token may be free again, null when one is now. */
function rateWait(tx: Tx, tenantId: string, key: string): number | null {
  const row = tx.db.rateLimits.get(limitKey(tenantId, key));
  if (row === undefined) return null;
  const at = Math.max(tx.t, row.lastAt);
  const grants = row.grants.filter((grant) => grant.at > at - row.windowMs);
  tx.db.rateLimits.put(limitKey(tenantId, key), Object.freeze({ ...row, grants }));
  const used = grants.reduce((sum, { count }) => sum + count, 0);
  if (row.maxCount === 0) return at + NEVER_MS;
  return used < row.maxCount ? null : (grants[0]?.at ?? at) + row.windowMs;
}

function takeRate(tx: Tx, tenantId: string, key: string): void {
  const row = tx.db.rateLimits.get(limitKey(tenantId, key));
  if (row === undefined) return;
  const at = Math.max(tx.t, row.lastAt);
  const sub = row.windowMs / SUB_WINDOWS;
  const stamp = row.maxCount <= EXACT_MAX ? at : Math.ceil(at / sub) * sub;
  const last = row.grants.at(-1);
  const grants =
    row.maxCount > EXACT_MAX && last?.at === stamp
      ? [...row.grants.slice(0, -1), { at: stamp, count: last.count + 1 }]
      : [...row.grants, { at: stamp, count: 1 }];
  tx.db.rateLimits.put(limitKey(tenantId, key), Object.freeze({ ...row, grants, lastAt: at }));
}

// Circuit breakers.

function waitOf(tx: Tx, row: BreakerRow | undefined): number | null {
  if (row?.state === 'open') {
    const until = (row.openedAt ?? 0) + row.cooldownMs;
    return until > tx.t ? until : null;
  }
  if (row?.state !== 'half_open' || (row.probeUntil ?? 0) <= tx.t) return null;
  return Math.min(row.probeUntil ?? 0, tx.t + PROBE_POLL_MS);
}

/** Which handler may be called, or until when none ([CB-4], [CB-5]). */
function passageOf(
  tx: Tx,
  tenantId: string,
  { handler, fallback }: NonNullable<Takes['breaker']>,
): { readonly handler: string; readonly tracked: boolean; readonly until: number | null } {
  const until = waitOf(tx, tx.db.breakers.get(limitKey(tenantId, handler)));
  if (until === null || fallback === undefined) return { handler, tracked: true, until };
  const row = fallback.tracked ? tx.db.breakers.get(limitKey(tenantId, fallback.handler)) : undefined;
  const fallbackUntil = waitOf(tx, row);
  if (fallbackUntil === null) return { ...fallback, until: null };
  return { handler, tracked: true, until: Math.max(until, fallbackUntil) };
}

/** The one who passes a breaker that is not closed is its probe ([CB-6]). */
function pass(tx: Tx, tenantId: string, instanceId: string, handler: string): number | null {
  const row = tx.db.breakers.get(limitKey(tenantId, handler));
  if (row === undefined || row.state === 'closed') return null;
  const probe = { probeInstanceId: instanceId, probeUntil: tx.t + PROBE_MS };
  tx.db.breakers.put(limitKey(tenantId, handler), Object.freeze({ ...row, state: 'half_open', ...probe }));
  return probe.probeUntil;
}

/** [CB-2]. In a half-open breaker only the probe has a say; in an open one nobody has. */
export function tellBreaker(tx: Tx, tenantId: string, instanceId: string, outcome: BreakerOutcome): void {
  const key = limitKey(tenantId, outcome.handler);
  const row = tx.db.breakers.get(key);
  if (row?.state === 'open' || (row?.state === 'half_open' && row.probeInstanceId !== instanceId)) return;
  const calm = { openedAt: null, probeUntil: null, probeInstanceId: null };
  if (outcome.ok) {
    if (row !== undefined && row.failureCount > 0) {
      tx.db.breakers.put(key, Object.freeze({ ...row, ...calm, state: 'closed', failureCount: 0 }));
    }
    return;
  }
  const failureCount = (row?.failureCount ?? 0) + 1;
  const opens = row?.state === 'half_open' || failureCount >= outcome.threshold;
  tx.db.breakers.put(
    key,
    Object.freeze({
      tenantId,
      handler: outcome.handler,
      state: opens ? 'open' : 'closed',
      failureCount,
      failureThreshold: outcome.threshold,
      cooldownMs: outcome.cooldownMs,
      ...calm,
      openedAt: opens ? tx.t : null,
      lastError: outcome.error,
    }),
  );
}

// Resource pools.

/** The pool of a name; of several the oldest. */
function findPool(tx: Tx, tenantId: string, name: string): PoolRow | undefined {
  return tx.db.pools.values().find((pool) => pool.tenantId === tenantId && pool.name === name);
}

export function membersOf(tx: Tx, poolId: string): readonly ResourceRow[] {
  return tx.db.resources.values().filter((row) => row.poolId === poolId);
}

interface Picked {
  readonly pool: PoolRow;
  readonly row: ResourceRow;
  readonly date: string;
  readonly nextIndex: number;
}

function resourceOf(
  tx: Tx,
  tenantId: string,
  { name, dice }: NonNullable<Takes['pool']>,
): Picked | Extract<TakeAnswer, { readonly granted: false }> {
  const pool = findPool(tx, tenantId, name);
  if (pool === undefined) return { granted: false, reason: 'pool_unknown', until: null };
  const date = utcDate(tx.t);
  const members = membersOf(tx, pool.id);
  const counted = members.map((row) => ({ ...row, used: row.dailyUsageDate === date ? row.dailyUsage : 0 }));
  const picked = pick(pool.strategy, counted, { date, dice, roundRobinIndex: pool.roundRobinIndex });
  const row = picked.kind === 'picked' ? members[picked.index] : undefined;
  if (picked.kind === 'picked' && row !== undefined) {
    return { pool, row, date, nextIndex: (picked.index + 1) % members.length };
  }
  return picked.kind === 'exhausted'
    ? { granted: false, reason: 'pool', until: nextUtcDay(tx.t) }
    : { granted: false, reason: 'pool_empty', until: null };
}

function takeResource(tx: Tx, { pool, row, date, nextIndex }: Picked): void {
  const dailyUsage = (row.dailyUsageDate === date ? row.dailyUsage : 0) + 1;
  tx.db.resources.put(row.id, Object.freeze({ ...row, dailyUsage, dailyUsageDate: date }));
  if (pool.strategy !== 'round_robin') return;
  tx.db.pools.put(pool.id, Object.freeze({ ...pool, roundRobinIndex: nextIndex }));
}
