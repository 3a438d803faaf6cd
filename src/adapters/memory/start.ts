import { canonicalJson } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { NewInstance, StartAnswer, StartRequest, Started } from '../../ports/store/accept.ts';
import { claimOf, isHolding, tryClaim } from './claims.ts';
import { type Tx, saveInstance } from './database.ts';
import { oldSends, removeOldSends } from './outbox.ts';
import { type InstanceRow, stored } from './rows.ts';
import { expiredSessions, expireSessions } from './sessions.ts';

/** A nonce may be used again after this long. */
const NONCE_MS = 360_000;
/** A delivery is remembered for 7 days (RULINGS B21). */
const DELIVERY_MS = 604_800_000;

function haveSequences(tx: Tx, { instances }: StartRequest): boolean {
  return instances.every(({ sequenceId }) => tx.db.sequences.has(sequenceId));
}

export function start(tx: Tx, request: StartRequest): StartAnswer {
  if (request.requireSequence === true && !haveSequences(tx, request)) return { status: 'no_sequence' };
  if (!useNonce(tx, request)) return { status: 'nonce_used' };
  const first = firstDelivery(tx, request);
  const [only] = request.instances;
  if (first !== null && only !== undefined) {
    return { status: 'ok', now: tx.t, started: [repeated(first, only)] };
  }
  const started: Started[] = [];
  for (const [index, instance] of request.instances.entries()) {
    const known = knownStart(tx, instance);
    if (known !== null && known.id !== instance.id && request.onKnownKey === 'conflict') {
      throw new KnownKey(index);
    }
    started.push(known === null ? create(tx, request, instance) : repeat(tx, request, known, instance));
  }
  checkPlans(tx, request, started);
  const [alone] = started;
  if (request.delivery !== undefined && alone !== undefined) rememberDelivery(tx, request.delivery, alone.id);
  return { status: 'ok', now: tx.t, started };
}

/** Thrown inside the operation, so that nothing of the batch stays ([INS-9]); the store turns it into an answer. */
export class KnownKey extends Error {
  readonly index: number;
  constructor(index: number) {
    super('The idempotency key is known.');
    this.index = index;
  }
}

/** Thrown as `KnownKey` is: the plan of a tenant does not allow so many active instances, or so many in a second. */
export class FullPlan extends Error {
  readonly tenantId: string;
  readonly status: 'plan_full' | 'plan_rate';
  constructor(tenantId: string, status: 'plan_full' | 'plan_rate') {
    super('The plan is full.');
    this.tenantId = tenantId;
    this.status = status;
  }
}

function checkPlans(tx: Tx, { activeLimits = [] }: StartRequest, started: readonly Started[]): void {
  if (started.every(({ deduplicated }) => deduplicated)) return;
  for (const { tenantId, maxActive, startsPerSec } of activeLimits) {
    const own = tx.db.instances.values().filter((row) => row.tenantId === tenantId);
    const active = own.filter(({ state }) => !isTerminal(state));
    if (maxActive !== undefined && active.length > maxActive) throw new FullPlan(tenantId, 'plan_full');
    const recent = own.filter(({ parent, createdAt }) => parent === null && createdAt > tx.t - 1_000);
    if (startsPerSec !== undefined && recent.length > startsPerSec) throw new FullPlan(tenantId, 'plan_rate');
  }
}

/** False when the nonce was used within its time. */
function useNonce(tx: Tx, { nonce }: StartRequest): boolean {
  if (nonce === undefined) return true;
  const key = JSON.stringify([nonce.slug, nonce.nonce]);
  const until = tx.db.nonces.get(key);
  if (until !== undefined && until > tx.t) return false;
  tx.db.nonces.put(key, tx.t + NONCE_MS);
  return true;
}

function firstDelivery(tx: Tx, { delivery }: StartRequest): InstanceRow | null {
  if (delivery === undefined) return null;
  const known = tx.db.deliveries.get(JSON.stringify([delivery.slug, delivery.deliveryId]));
  if (known === undefined || known.expiresAt <= tx.t) return null;
  return tx.db.instances.get(known.instanceId) ?? null;
}

function rememberDelivery(
  tx: Tx,
  delivery: { readonly slug: string; readonly deliveryId: string },
  instanceId: string,
): void {
  const key = JSON.stringify([delivery.slug, delivery.deliveryId]);
  tx.db.deliveries.put(key, { instanceId, expiresAt: tx.t + DELIVERY_MS });
}

function startKey(instance: NewInstance): string {
  return JSON.stringify([instance.tenantId, instance.dryRun, instance.idempotencyKey]);
}

/** The instance that this one repeats: by its own id (the same request again), else by its key. */
function knownStart(tx: Tx, instance: NewInstance): InstanceRow | null {
  const same = tx.db.instances.get(instance.id);
  if (same !== undefined) {
    if (same.tenantId !== instance.tenantId) throw new Error(`The instance ${instance.id} exists already.`);
    return same;
  }
  if (instance.idempotencyKey === null) return null;
  return tx.db.instances.get(tx.db.startKeys.get(startKey(instance)) ?? '') ?? null;
}

/** [INS-8]: compared with the input as it first came; what the run made of its data since does not count. */
function repeated(first: InstanceRow, instance: NewInstance): Started {
  const conflict =
    first.sequenceId !== instance.sequenceId ||
    canonicalJson(first.originalInput) !== canonicalJson(instance.originalInput);
  return { id: first.id, deduplicated: true, conflict, claim: null };
}

/** With its own id it is the same request again after a lost answer: it is answered as the first time (RULINGS A36). */
function repeat(tx: Tx, request: StartRequest, known: InstanceRow, instance: NewInstance): Started {
  if (known.id !== instance.id) return repeated(known, instance);
  const token = request.lease?.leaseToken;
  const claim = token !== undefined && isHolding(tx, known, token) ? claimOf(tx, known, token) : null;
  return { id: known.id, deduplicated: false, conflict: false, claim };
}

function create(tx: Tx, request: StartRequest, instance: NewInstance): Started {
  const row = saveInstance(tx, newInstanceRow(tx, stored(instance)));
  if (instance.idempotencyKey !== null) tx.db.startKeys.put(startKey(instance), row.id);
  const due = row.dueAt !== null && row.dueAt <= tx.t;
  const claim = request.lease !== undefined && due ? tryClaim(tx, row, request.lease) : null;
  return { id: row.id, deduplicated: false, conflict: false, claim };
}

/** [INS-6]: scheduled at the given instant or now; the first run is run 1. */
export function newInstanceRow(tx: Tx, instance: NewInstance): InstanceRow {
  return {
    ...instance,
    state: 'scheduled',
    nextFireAt: instance.nextFireAt ?? tx.t,
    dueAt: Math.max(instance.nextFireAt ?? tx.t, tx.t),
    parent: null,
    depth: 0,
    createdAt: tx.t,
    updatedAt: tx.t,
    startedAt: null,
    runNo: 1,
    rev: 0,
    totalSteps: 0,
    recoveryCount: 0,
    cancelRequestedAt: null,
    currentStep: null,
    usage: null,
    hasHistory: false,
    epoch: 0,
    leaseOwner: null,
    leaseUntil: null,
    leaseToken: null,
    openWaits: 0,
    failure: null,
    claimedAmong: 0,
    company: null,
    takenOver: false,
    claimsWithoutProgress: 0,
    wakeSeq: 0,
    seenSeq: 0,
    cancelSeq: null,
    committedToken: null,
    committedGranted: false,
    waitsForSlot: false,
    lastRowAt: 0,
  };
}

/** Nonces, deliveries, keys of requests and sessions whose time is over; answers how many. */
export function removeExpired(tx: Tx, limit: number): number {
  const over = removalsDue(tx).slice(0, limit);
  for (const remove of over) remove();
  return expireSessions(tx, limit) + over.length + removeOldSends(tx, limit);
}

/** Whether `removeExpired` would find anything. */
export function hasExpired(tx: Tx): boolean {
  return removalsDue(tx).length > 0 || expiredSessions(tx).length > 0 || oldSends(tx).length > 0;
}

function removalsDue(tx: Tx): readonly (() => void)[] {
  const { nonces, deliveries, requestKeys } = tx.db;
  return [
    ...nonces.entries().flatMap(([key, until]) => (until <= tx.t ? [() => nonces.remove(key)] : [])),
    ...deliveries
      .entries()
      .flatMap(([key, { expiresAt }]) => (expiresAt <= tx.t ? [() => deliveries.remove(key)] : [])),
    ...requestKeys
      .entries()
      .flatMap(([key, { expiresAt }]) => (expiresAt <= tx.t ? [() => requestKeys.remove(key)] : [])),
    ...tx.db.emitRecords
      .entries()
      .flatMap(([key, { expiresAt }]) => (expiresAt <= tx.t ? [() => tx.db.emitRecords.remove(key)] : [])),
    ...tx.db.limitWaits
      .tables()
      .flatMap((waits) =>
        waits.entries().flatMap(([id, until]) => (until <= tx.t ? [() => waits.remove(id)] : [])),
      ),
  ];
}
