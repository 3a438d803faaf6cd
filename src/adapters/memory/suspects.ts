import { compareCodePoints } from '../../core/json.ts';
import type { ClaimDueRequest } from '../../ports/store/turn.ts';
import { type Tx, saveInstance } from './database.ts';
import type { InstanceRow } from './rows.ts';

/**
 * A process that ended says of each of its turns that it may be to blame. What was lost in company comes back in smaller
 * company, until it is alone; only then it is known who it was.
 */
function smallerCompany(among: number): number {
  return among <= 4 ? 1 : Math.floor(among / 4);
}

/** What a process says of itself with a claim. */
export interface Crowd {
  readonly among: number;
  readonly busy: boolean;
  readonly suspects: number;
}

export function crowdOf({ limit, among, busy, suspects }: ClaimDueRequest): Crowd {
  return { among: among ?? Math.max(1, limit), busy: busy ?? false, suspects: suspects ?? 0 };
}

/** How many suspects the process may have beside each other when it takes this one; null: not now. */
export function companyOf({ company }: InstanceRow, { among, busy, suspects }: Crowd): number | null {
  if (company === null || company > among) return among;
  if (company === 1) return busy ? null : 1;
  return company > suspects ? company : null;
}

/** Suspects that come together. */
export interface SuspectsDue {
  readonly rows: readonly InstanceRow[];
  readonly among: number;
  /** The company that the first of them needs and cannot have now. */
  readonly waits: number | null;
}

const NO_SUSPECTS: SuspectsDue = { rows: [], among: 0, waits: null };

/** Of the due instances of one priority. They come when nothing else has been due for longer. */
export function suspectsDue(due: readonly InstanceRow[], limit: number, crowd: Crowd): SuspectsDue {
  const byDue = due.filter(({ company }) => company !== null).sort(oldestFirst);
  const [first] = byDue;
  if (first === undefined) return NO_SUSPECTS;
  if (due.some((row) => row.company === null && (row.dueAt ?? 0) < (first.dueAt ?? 0))) return NO_SUSPECTS;
  const among = companyOf(first, crowd);
  if (among === null) return { ...NO_SUSPECTS, waits: first.company };
  const least = Math.min(first.company ?? 1, crowd.among);
  const rows = byDue.filter(({ company }) => (company ?? 0) >= least);
  return { rows: rows.slice(0, roomFor(limit, among, crowd)), among, waits: null };
}

export function roomFor(limit: number, among: number, { suspects }: Crowd): number {
  return Math.min(limit, Math.max(1, among - suspects));
}

function oldestFirst(a: InstanceRow, b: InstanceRow): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || compareCodePoints(a.id, b.id);
}

/** So few of one process say nothing: it may have had others that ended well. */
const LOST_TOGETHER_MIN = 8;

/**
 * The rows as losing their leases leaves them: they are due. Only a turn that was alone in its process speaks against its
 * instance (RULINGS A18).
 *
 * @param together They are all that their processes had.
 */
export function loseLeases(tx: Tx, rows: readonly InstanceRow[], together: boolean): readonly InstanceRow[] {
  const lostBy = new Map<string | null, number>();
  for (const { leaseOwner } of rows) lostBy.set(leaseOwner, (lostBy.get(leaseOwner) ?? 0) + 1);
  return rows.map((row) => {
    const lost = together ? Math.max(LOST_TOGETHER_MIN, lostBy.get(row.leaseOwner) ?? 0) : row.claimedAmong;
    const { claimedAmong, company } = row;
    return saveInstance(tx, {
      ...withoutLease(row),
      takenOver: true,
      recoveryCount: row.recoveryCount + (claimedAmong === 1 ? 1 : 0),
      company: claimedAmong === 0 ? company : smallerCompany(Math.min(claimedAmong, lost)),
      dueAt: tx.t,
    });
  });
}

export function withoutLease(row: InstanceRow): InstanceRow {
  return { ...row, leaseToken: null, leaseOwner: null, leaseUntil: null, claimedAmong: 0 };
}
