import { jsonObject } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type {
  Claim,
  ClaimBatch,
  ClaimDueRequest,
  ClaimOneRequest,
  ClaimOneResult,
  FreedSlots,
  GivenSlot,
  NewLease,
} from '../../ports/store/turn.ts';
import {
  type FullKeys,
  hasFreeSlot,
  noteFull,
  postponeForSlot,
  putOffWithOthers,
  releaseSlot,
} from './concurrency.ts';
import { type Tx, findInstance, framesOf, saveInstance } from './database.ts';
import { inClaimOrder, oldestLeaseFirst } from './claim-order.ts';
import { openBreakers } from './limits.ts';
import { type InstanceRow, recordOf } from './rows.ts';
import { companyOf, crowdOf, loseLeases, roomFor, suspectsDue, withoutLease } from './suspects.ts';
import { addTransition, inboxAbove } from './wake.ts';

/** More claims in a row without a committed change pause the run (RULINGS B7). */
const MAX_CLAIMS_WITHOUT_PROGRESS = 20;

/** As many as one statement of the database notes. */
const EXPIRED_MAX = 500;

export function claimDue(tx: Tx, request: ClaimDueRequest): ClaimBatch {
  const held = heldUnder(tx, request.leaseToken);
  if (held.length > 0) return { now: tx.t, claims: held };
  const due = tx.db.instances
    .values()
    .filter((row) => row.leaseToken === null && row.dueAt !== null && row.dueAt <= tx.t);
  const crowd = crowdOf(request);
  const taken = takeInto(tx, request);
  const waits: number[] = [];
  for (const priority of [3, 2, 1, 0]) {
    const ofPriority = due.filter((row) => row.priority === priority);
    if (taken.claims.length === 0) {
      const suspects = suspectsDue(ofPriority, request.limit, crowd);
      if (suspects.waits !== null) waits.push(suspects.waits);
      taken.take(suspects.rows, suspects.among);
      if (taken.claims.length > 0) break;
    }
    taken.take(inClaimOrder(ofPriority.filter(({ company }) => company === null)), crowd.among);
  }
  return {
    now: tx.t,
    claims: taken.claims,
    ...freed(taken.given),
    ...(waits.length === 0 ? {} : { waits: Math.min(...waits) }),
  };
}

/** Leases of ended instances belong to operators whose process died: they are dropped, there is nothing to go on with. */
export function claimExpired(tx: Tx, request: ClaimDueRequest): ClaimBatch {
  const held = heldUnder(tx, request.leaseToken);
  if (held.length > 0) return { now: tx.t, claims: held };
  const expired = tx.db.instances.values().filter((row) => row.leaseUntil !== null && row.leaseUntil <= tx.t);
  for (const row of expired) if (isOver(row)) saveInstance(tx, withoutLease(row));
  const open = oldestLeaseFirst(expired.filter((row) => !isOver(row)));
  const lost = loseLeases(tx, open.slice(0, Math.max(request.limit, EXPIRED_MAX)), true);
  const crowd = crowdOf(request);
  const among = lost.map((row) => companyOf(row, crowd)).find((company) => company !== null) ?? null;
  const taken = takeInto(tx, { ...request, limit: roomFor(request.limit, among ?? 0, crowd) });
  if (among !== null)
    taken.take(
      lost.filter(({ company }) => (company ?? crowd.among) >= among),
      among,
    );
  const claimed = new Set(taken.claims.map(({ instanceId }) => instanceId));
  const left = lost.filter(
    ({ id }) => !claimed.has(id) && (tx.db.instances.get(id)?.dueAt ?? Infinity) <= tx.t,
  );
  return {
    now: tx.t,
    claims: taken.claims,
    ...freed(taken.given),
    ...(left.length === 0 ? {} : { left: left.map(({ tenantId, id }) => ({ tenantId, instanceId: id })) }),
  };
}

/** Ended, and no cleanup is left to be done ([HOOK-4]). */
export function isOver(row: InstanceRow): boolean {
  return isTerminal(row.state) && (row.hooks ?? null) === null;
}

interface Taken {
  readonly claims: readonly Claim[];
  readonly given: readonly GivenSlot[];
  /** Claims of these what may be claimed, in their order. */
  take(order: readonly InstanceRow[], among: number): void;
}

function takeInto(tx: Tx, request: ClaimDueRequest): Taken {
  const claims: Claim[] = [];
  const given: GivenSlot[] = [];
  const perTenant = new Map<string, number>();
  const full: FullKeys = new Map();
  let denied = 0;
  const take = (row: InstanceRow, among: number): void => {
    const ofTenant = perTenant.get(row.tenantId) ?? 0;
    if (request.perTenantLimit > 0 && ofTenant >= request.perTenantLimit) return;
    if (denied >= request.limit && putOffWithOthers(tx, full, row)) return;
    const claim = tryClaim(tx, row, { ...request, among }, given);
    const after = tx.db.instances.get(row.id);
    if (after?.waitsForSlot === true && claim === null) {
      noteFull(full, after);
      denied += 1;
    }
    if (claim === null) return;
    claims.push(claim);
    perTenant.set(row.tenantId, ofTenant + 1);
  };
  return {
    claims,
    given,
    take: (order, among) => {
      for (const row of order) if (claims.length < request.limit) take(row, among);
    },
  };
}

function freed(given: readonly GivenSlot[]): FreedSlots {
  return given.length === 0 ? {} : { given };
}

/** null when the instance was put back or paused instead; who gets a slot by that is added to `given`. */
export function tryClaim(tx: Tx, row: InstanceRow, request: NewLease, given: GivenSlot[] = []): Claim | null {
  if (row.claimsWithoutProgress >= MAX_CLAIMS_WITHOUT_PROGRESS) {
    if (isTerminal(row.state)) giveUpHooks(tx, row);
    else given.push(...pauseWithoutProgress(tx, row));
    return null;
  }
  const counted = { ...row, claimsWithoutProgress: row.claimsWithoutProgress + 1 };
  if (row.state !== 'scheduled' || isHeldBack(tx, row)) return lease(tx, counted, request);
  if (hasFreeSlot(tx, row)) return lease(tx, { ...counted, state: 'running', waitsForSlot: false }, request);
  const postponed = postponeForSlot(tx, row);
  // A fact is processed without a slot: a cancel does not wait for one.
  return row.wakeSeq > row.seenSeq ? lease(tx, { ...counted, ...postponed }, request) : null;
}

/** Writes the lease under a new epoch. A claim that may run the tree begins the run (started_at). */
function lease(tx: Tx, row: InstanceRow, request: NewLease): Claim {
  const begins = row.state === 'running' && row.startedAt === null;
  const claimed = saveInstance(tx, {
    ...row,
    startedAt: begins ? tx.t : row.startedAt,
    dueAt: null,
    epoch: row.epoch + 1,
    leaseToken: request.leaseToken,
    leaseOwner: request.leaseOwner,
    leaseUntil: tx.t + request.leaseMs,
    claimedAmong: request.among ?? 1,
  });
  return claimOf(tx, claimed, request.leaseToken);
}

function isHeldBack(tx: Tx, row: InstanceRow): boolean {
  return row.nextFireAt !== null && row.nextFireAt > tx.t;
}

/** All that a turn needs to begin, read afresh. */
export function claimOf(tx: Tx, row: InstanceRow, leaseToken: string): Claim {
  return {
    tenantId: row.tenantId,
    instanceId: row.id,
    epoch: row.epoch,
    leaseToken,
    leaseUntil: row.leaseUntil ?? tx.t,
    instance: recordOf(row),
    frames: framesOf(tx.db, row.id),
    inbox: inboxAbove(tx, row.id, 0),
    takenOver: row.takenOver,
    among: row.claimedAmong,
    mayRun:
      !isHeldBack(tx, row) || row.state !== 'scheduled' || (row.startedAt !== null && !row.waitsForSlot),
    ...(row.concurrencyKey === null || row.maxConcurrency === null ? {} : { sharesSlots: true }),
    ...openBreakers(tx, row.tenantId),
  };
}

/** A lease that ran out is nobody's, though it still fences until somebody takes it over. */
export function isHolding(tx: Tx, row: InstanceRow, leaseToken: string): boolean {
  return row.leaseToken === leaseToken && row.leaseUntil !== null && row.leaseUntil > tx.t;
}

/** What a lost answer of the same claim would have carried (RULINGS A24). */
function heldUnder(tx: Tx, leaseToken: string): readonly Claim[] {
  return tx.db.instances
    .values()
    .filter((row) => isHolding(tx, row, leaseToken))
    .map((row) => claimOf(tx, row, leaseToken));
}

function pauseWithoutProgress(tx: Tx, row: InstanceRow): readonly GivenSlot[] {
  if (row.state !== 'paused') addTransition(tx, row, 'paused');
  const metadata = jsonObject([...Object.entries(row.metadata), ['paused_reason', 'no_progress']]);
  const paused = saveInstance(tx, {
    ...withoutLease(row),
    state: 'paused',
    nextFireAt: null,
    dueAt: null,
    claimsWithoutProgress: 0,
    metadata,
  });
  const next = row.state === 'running' ? releaseSlot(tx, paused) : null;
  return next === null ? [] : [{ tenantId: row.tenantId, instanceId: next }];
}

/** Cleanup that makes no progress is given up: an end is never taken back ([HOOK-3]). */
function giveUpHooks(tx: Tx, row: InstanceRow): void {
  const id = tx.newId();
  const details = { next: row.hooks?.next ?? null };
  tx.db.journal.of(row.id).put(id, { id, kind: 'hooks_given_up', details, createdAt: tx.t });
  saveInstance(tx, {
    ...withoutLease(row),
    dueAt: null,
    openWaits: 0,
    hooks: null,
    claimsWithoutProgress: 0,
  });
}

export function claimOne(tx: Tx, request: ClaimOneRequest): ClaimOneResult {
  const { t: now } = tx;
  const row = findInstance(tx.db, request.tenantId, request.instanceId);
  if (row === null) return { status: 'not_found', now };
  if (isHolding(tx, row, request.leaseToken)) {
    return { status: 'claimed', now, claim: claimOf(tx, row, request.leaseToken) };
  }
  const live = row.leaseUntil !== null && row.leaseUntil > now;
  return request.mode === 'operator'
    ? claimForOperator(tx, row, request, live)
    : claimForHint(tx, row, request, live);
}

function claimForHint(tx: Tx, row: InstanceRow, request: ClaimOneRequest, live: boolean): ClaimOneResult {
  const { t: now } = tx;
  if (isOver(row)) return { status: 'terminal', now };
  if (live) return { status: 'held', now };
  const due = row.leaseToken !== null || (row.dueAt !== null && row.dueAt <= now);
  if (!due) return { status: 'not_due', now };
  const open = afterLoss(tx, row);
  if (open.company !== null && open.company < (request.among ?? 1)) {
    return { status: 'suspect', now, company: open.company };
  }
  const given: GivenSlot[] = [];
  const claim = tryClaim(tx, open, request, given);
  if (claim === null) return { status: 'not_due', now, ...freed(given) };
  return { status: 'claimed', now, claim };
}

/** A lease that is still there was lost by its turn. */
function afterLoss(tx: Tx, row: InstanceRow): InstanceRow {
  return row.leaseToken === null ? row : (loseLeases(tx, [row], false)[0] ?? row);
}

/** The state stays what it is: the operator's commit says what becomes of it, and its audit row where it came from. */
function claimForOperator(tx: Tx, row: InstanceRow, request: ClaimOneRequest, live: boolean): ClaimOneResult {
  const { t: now } = tx;
  if (live && request.takeOver !== true) return { status: 'held', now };
  const taken = live ? { ...row, takenOver: true } : afterLoss(tx, row);
  const claimed = saveInstance(tx, {
    ...taken,
    dueAt: null,
    epoch: row.epoch + 1,
    leaseToken: request.leaseToken,
    leaseOwner: request.leaseOwner,
    leaseUntil: now + request.leaseMs,
    claimedAmong: 0,
  });
  return { status: 'claimed', now, claim: claimOf(tx, claimed, request.leaseToken) };
}
