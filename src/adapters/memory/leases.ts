import { compareCodePoints } from '../../core/json.ts';
import type {
  GivenSlot,
  LeaseRef,
  NextWake,
  ReleasedLease,
  Upcoming,
  UpcomingRequest,
} from '../../ports/store/turn.ts';
import { isOver } from './claims.ts';
import { releaseSlot } from './concurrency.ts';
import { type Tx, saveInstance } from './database.ts';
import type { InstanceRow } from './rows.ts';
import { loseLeases, withoutLease } from './suspects.ts';
import { addTransition, inboxAbove } from './wake.ts';
import { wakeOf } from './schedules.ts';

/** The row when the lease is still held under this epoch and token, live or not. */
function heldRow(tx: Tx, ref: LeaseRef): InstanceRow | null {
  const row = tx.db.instances.get(ref.instanceId);
  const held =
    row !== undefined &&
    row.tenantId === ref.tenantId &&
    row.epoch === ref.epoch &&
    row.leaseToken === ref.leaseToken;
  return held ? row : null;
}

export function renewLeases(tx: Tx, leases: readonly LeaseRef[], leaseMs: number): ReadonlySet<string> {
  const renewed = new Set<string>();
  for (const ref of leases) {
    const row = heldRow(tx, ref);
    if (row === null) continue;
    saveInstance(tx, { ...row, leaseUntil: tx.t + leaseMs });
    renewed.add(row.id);
  }
  return renewed;
}

/** The claim is undone: it counts for nothing unless it says so, and running -> scheduled leaves no audit row, as the claim left none. */
export function releaseLeases(tx: Tx, leases: readonly ReleasedLease[]): readonly GivenSlot[] {
  const given: GivenSlot[] = [];
  for (const ref of leases) {
    const row = heldRow(tx, ref);
    if (row === null) continue;
    const uncounted = ref.isHop === true ? 0 : 1;
    const claimsWithoutProgress = Math.max(0, row.claimsWithoutProgress - uncounted);
    const free = withoutLease({ ...row, claimsWithoutProgress });
    if (isOver(row)) saveInstance(tx, free);
    else if (row.state === 'running') {
      const back = saveInstance(tx, { ...free, state: 'scheduled', nextFireAt: tx.t, dueAt: tx.t });
      const next = releaseSlot(tx, back);
      if (next !== null) given.push({ tenantId: back.tenantId, instanceId: next });
    } else saveInstance(tx, { ...free, dueAt: tx.t });
  }
  return given;
}

/** Like the sweep finding them expired ([REC-1]), all at once: running ones become scheduled at now. */
export function voidAllLeases(tx: Tx): number {
  const leased = tx.db.instances.values().filter((row) => row.leaseToken !== null);
  for (const row of leased) {
    if (isOver(row)) saveInstance(tx, { ...withoutLease(row), epoch: row.epoch + 1 });
  }
  const open = leased.filter((row) => !isOver(row));
  for (const row of loseLeases(tx, open, true)) {
    const free = { ...row, epoch: row.epoch + 1 };
    if (row.state === 'running') {
      addTransition(tx, row, 'scheduled');
      releaseSlot(tx, saveInstance(tx, { ...free, state: 'scheduled', nextFireAt: tx.t }));
    } else saveInstance(tx, free);
  }
  return leased.length;
}

export function peekInbox(
  tx: Tx,
  leases: readonly (LeaseRef & { readonly seenSeq: number })[],
): ReadonlySet<string> {
  const news = leases.filter(
    (ref) => heldRow(tx, ref) !== null && inboxAbove(tx, ref.instanceId, ref.seenSeq).length > 0,
  );
  return new Set(news.map((ref) => ref.instanceId));
}

export function nextWake(tx: Tx): NextWake {
  let dueAt: number | null = null;
  let leaseUntil: number | null = null;
  for (const row of tx.db.instances.values()) {
    if (row.leaseUntil === null) dueAt = least(dueAt, row.dueAt);
    else leaseUntil = least(leaseUntil, row.leaseUntil);
  }
  let scheduleAt: number | null = null;
  for (const schedule of tx.db.schedules.values()) scheduleAt = least(scheduleAt, wakeOf(schedule));
  return { now: tx.t, dueAt, leaseUntil, scheduleAt };
}

export function countDue(tx: Tx, limit: number): number {
  let count = 0;
  for (const { dueAt, leaseUntil } of tx.db.instances.values()) {
    if (leaseUntil === null && dueAt !== null && dueAt <= tx.t) count += 1;
  }
  return Math.min(count, limit);
}

export function listUpcoming(tx: Tx, { withinMs, aheadMs, limit, after }: UpcomingRequest): Upcoming {
  const instances = [...tx.db.instances.values()]
    .flatMap(({ tenantId, id, dueAt, leaseUntil, updatedAt }) => {
      if (dueAt === null || leaseUntil !== null) return [];
      const isSoon = dueAt > tx.t && dueAt <= tx.t + withinMs;
      return isSoon && dueAt - updatedAt > aheadMs ? [{ tenantId, instanceId: id, dueAt }] : [];
    })
    .filter((instance) => after === undefined || inOrder(after, instance) < 0)
    .toSorted(inOrder);
  return { now: tx.t, instances: instances.slice(0, limit) };
}

function inOrder(left: Place, right: Place): number {
  return left.dueAt - right.dueAt || compareCodePoints(left.instanceId, right.instanceId);
}

type Place = NonNullable<UpcomingRequest['after']>;

function least(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}
