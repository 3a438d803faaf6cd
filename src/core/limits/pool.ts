/** Resource pools (13.4). Days are UTC dates, YYYY-MM-DD (RULINGS B24). */
export const POOL_STRATEGIES = ['round_robin', 'weighted', 'random'] as const;
export type PoolStrategy = (typeof POOL_STRATEGIES)[number];

export interface ResourceSettings {
  readonly name: string;
  readonly weight: number;
  readonly enabled: boolean;
  /** 0: no cap. */
  readonly dailyCap: number;
  readonly warmupStart: string | null;
  readonly warmupDays: number;
  readonly warmupStartCap: number;
}

const DAY_MS = 86_400_000;

export function utcDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The next midnight in UTC: then all caps begin afresh. */
export function nextUtcDay(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** What a resource may be given on a day: null for no cap. It grows from `warmupStartCap` to `dailyCap` in the warm-up. */
function capOn(resource: ResourceSettings, date: string): number | null {
  const { dailyCap, warmupStart, warmupDays, warmupStartCap } = resource;
  if (dailyCap === 0) return null;
  if (warmupStart === null || warmupDays === 0) return dailyCap;
  const day = Math.max(0, Math.round((Date.parse(date) - Date.parse(warmupStart)) / DAY_MS));
  if (day >= warmupDays) return dailyCap;
  return warmupStartCap + Math.floor(((dailyCap - warmupStartCap) * day) / warmupDays);
}

export interface PoolMember extends ResourceSettings {
  /** Assignments on the day in question. */
  readonly used: number;
}

export type Pick =
  | { readonly kind: 'picked'; readonly index: number }
  | { readonly kind: 'exhausted' | 'empty' };

/**
 * Chooses a resource; members stand in the order of their creation.
 *
 * @param roundRobinIndex Where round robin goes on.
 * @param dice From 0 to below 1.
 */
export function pick(
  strategy: PoolStrategy,
  members: readonly PoolMember[],
  at: { readonly date: string; readonly roundRobinIndex: number; readonly dice: number },
): Pick {
  const usable = members.flatMap((member, index) =>
    member.enabled && (strategy !== 'weighted' || member.weight > 0) ? [{ member, index }] : [],
  );
  if (usable.length === 0) return { kind: 'empty' };
  const open = usable.filter(
    ({ member }) => member.used < (capOn(member, at.date) ?? Number.POSITIVE_INFINITY),
  );
  const chosen = choose(strategy, open, at);
  return chosen === undefined ? { kind: 'exhausted' } : { kind: 'picked', index: chosen.index };
}

interface Candidate {
  readonly member: PoolMember;
  readonly index: number;
}

function choose(
  strategy: PoolStrategy,
  open: readonly Candidate[],
  { roundRobinIndex, dice }: { readonly roundRobinIndex: number; readonly dice: number },
): Candidate | undefined {
  switch (strategy) {
    case 'round_robin':
      return open.find(({ index }) => index >= roundRobinIndex) ?? open[0];
    case 'random':
      return open[Math.min(open.length - 1, Math.floor(dice * open.length))];
    case 'weighted': {
      const total = open.reduce((sum, { member }) => sum + member.weight, 0);
      let rest = dice * total;
      for (const candidate of open) {
        rest -= candidate.member.weight;
        if (rest < 0) return candidate;
      }
      return open.at(-1);
    }
  }
}
