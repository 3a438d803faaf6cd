import { compareCodePoints } from '../../core/json.ts';
import type {
  ClaimWebhooks,
  DeliveryQuery,
  OutboxEntry,
  OutboxStatus,
  OutboxStore,
  WebhookAttempt,
  WebhookAttemptResult,
  WebhookDelivery,
} from '../../ports/store/outbox.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';
import type { Run, Tx } from './database.ts';
import { type InstanceRow, type OutboxRow, stored } from './rows.ts';

const HISTORY_MS = 30 * 86_400_000;
const ATTEMPTS_LISTED_MAX = 1000;

/** Part of a commit. */
export function queueWebhooks(tx: Tx, row: InstanceRow, turn: TurnCommit): void {
  for (const webhook of turn.webhooks ?? []) {
    const entry: OutboxRow = {
      ...webhook,
      tenantId: row.tenantId,
      instanceId: row.id,
      status: 'pending',
      attempts: 0,
      lastError: null,
      nextAttemptAt: tx.t,
      claimedAt: null,
      createdAt: tx.t,
      claimToken: null,
    };
    tx.db.outbox.put(webhook.id, stored(entry));
  }
}

function claimWebhooks(tx: Tx, request: ClaimWebhooks): readonly OutboxEntry[] {
  const { perUrl, underWay } = request;
  const taken = new Map(Object.entries(underWay));
  const due = tx.db.outbox
    .values()
    .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= tx.t)
    .sort((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0) || compareCodePoints(a.id, b.id));
  const claimed = due.filter(({ url }) => {
    const before = taken.get(url) ?? 0;
    if (before >= perUrl) return false;
    taken.set(url, before + 1);
    return true;
  });
  return claimed.sort(oldestFirst).map((row) => take(tx, row, request));
}

function claimWebhook(
  tx: Tx,
  request: Parameters<OutboxStore['claimWebhook']>[0],
): Awaited<ReturnType<OutboxStore['claimWebhook']>> {
  const row = find(tx, request.tenantId, request.id);
  if (row === null) return { status: 'not_found' };
  if (row.status === 'in_flight' && (row.nextAttemptAt ?? 0) > tx.t) return { status: 'busy' };
  return { status: 'claimed', entry: take(tx, row, request) };
}

function take(
  tx: Tx,
  row: OutboxRow,
  { claimToken, leaseMs }: Pick<ClaimWebhooks, 'claimToken' | 'leaseMs'>,
): OutboxEntry {
  const claim = { claimToken, claimedAt: tx.t, nextAttemptAt: tx.t + leaseMs };
  const taken: OutboxRow = { ...row, ...claim, status: 'in_flight' };
  tx.db.outbox.put(row.id, stored(taken));
  return viewOf(taken);
}

function finishWebhook(tx: Tx, result: WebhookAttemptResult): boolean {
  const row = tx.db.outbox.get(result.id);
  if (row === undefined || row.claimToken !== result.claimToken) return false;
  const attempt = noteAttempt(tx, row, result);
  if (attempt.success) {
    tx.db.outbox.remove(row.id);
    return true;
  }
  const { retryAfterMs } = result;
  const waits = { claimToken: null, claimedAt: null, attempts: row.attempts + 1 };
  const next =
    retryAfterMs === undefined
      ? ({ status: 'parked', nextAttemptAt: null } as const)
      : ({ status: 'pending', nextAttemptAt: tx.t + retryAfterMs } as const);
  tx.db.outbox.put(row.id, stored({ ...row, ...waits, ...next, lastError: result.errorExcerpt }));
  return true;
}

function noteAttempt(tx: Tx, row: OutboxRow, result: WebhookAttemptResult): WebhookAttempt {
  const { durationMs, statusCode, errorClass, errorExcerpt, signed } = result;
  const at = row.claimedAt ?? tx.t;
  const of = { deliveryId: row.id, url: row.url, eventType: row.eventType, instanceId: row.instanceId };
  const success = errorClass === null;
  const attempt: WebhookAttempt = {
    ...of,
    id: tx.newId(),
    attemptNumber: row.attempts + 1,
    attemptedAt: at,
    ...{ durationMs, success, statusCode, errorClass, errorExcerpt, signed },
  };
  tx.db.webhookAttempts.of(row.id).put(String(attempt.attemptNumber), Object.freeze(attempt));
  const before = tx.db.webhookSends.get(row.id);
  tx.db.webhookSends.put(row.id, {
    ...of,
    tenantId: row.tenantId,
    attempts: (before?.attempts ?? 0) + 1,
    delivered: success,
    firstAttemptAt: before?.firstAttemptAt ?? at,
    lastAttemptAt: at,
    lastErrorClass: errorClass ?? before?.lastErrorClass ?? null,
  });
  return attempt;
}

function listOutbox(
  tx: Tx,
  tenantId: string | null,
  status: OutboxStatus,
  limit: number,
): readonly OutboxEntry[] {
  return tx.db.outbox
    .values()
    .filter((row) => row.status === status && (tenantId === null || row.tenantId === tenantId))
    .sort((a, b) => oldestFirst(b, a))
    .slice(0, limit)
    .map(viewOf);
}

function listDeliveries(tx: Tx, query: DeliveryQuery): readonly WebhookDelivery[] {
  const fits = (wanted: string | boolean | null, value: string | boolean | null): boolean =>
    wanted === null || wanted === value;
  return tx.db.webhookSends
    .values()
    .filter(
      (row) =>
        fits(query.tenantId, row.tenantId) &&
        fits(query.url, row.url) &&
        fits(query.eventType, row.eventType) &&
        fits(query.delivered, row.delivered) &&
        fits(query.errorClass, row.lastErrorClass),
    )
    .sort((a, b) => b.firstAttemptAt - a.firstAttemptAt || compareCodePoints(b.deliveryId, a.deliveryId))
    .slice(0, query.limit)
    .map(({ tenantId: _tenantId, ...delivery }) => delivery);
}

function listAttempts(tx: Tx, tenantId: string | null, id: string): readonly WebhookAttempt[] | null {
  const send = tx.db.webhookSends.get(id);
  if (send === undefined || (tenantId !== null && send.tenantId !== tenantId)) return null;
  return tx.db.webhookAttempts.of(id).values().slice(0, ATTEMPTS_LISTED_MAX);
}

/** History past its time; answers how many deliveries. */
export function removeOldSends(tx: Tx, limit: number): number {
  const old = oldSends(tx).slice(0, limit);
  for (const { deliveryId } of old) {
    tx.db.webhookAttempts.clear(deliveryId);
    tx.db.webhookSends.remove(deliveryId);
  }
  return old.length;
}

/** Deliveries whose last attempt was too long ago to be kept. */
export function oldSends(tx: Tx): readonly WebhookDelivery[] {
  return tx.db.webhookSends.values().filter((row) => row.lastAttemptAt <= tx.t - HISTORY_MS);
}

/** The part of the store that keeps outgoing webhooks. */
export function outboxPart(run: Run): OutboxStore {
  return {
    claimWebhooks: (request) => run((tx) => claimWebhooks(tx, request)),
    claimWebhook: (request) => run((tx) => claimWebhook(tx, request)),
    finishWebhook: (result) => run((tx) => finishWebhook(tx, result)),
    listWebhookOutbox: (tenantId, status, limit) => run((tx) => listOutbox(tx, tenantId, status, limit)),
    getWebhook: (tenantId, id) =>
      run((tx) => {
        const row = find(tx, tenantId, id);
        return row === null ? null : viewOf(row);
      }),
    deleteWebhook: (tenantId, id) =>
      run((tx) => {
        const row = find(tx, tenantId, id);
        if (row !== null) tx.db.outbox.remove(row.id);
        return row !== null;
      }),
    listWebhookDeliveries: (query) => run((tx) => listDeliveries(tx, query)),
    listWebhookAttempts: (tenantId, id) => run((tx) => listAttempts(tx, tenantId, id)),
  };
}

function find(tx: Tx, tenantId: string | null, id: string): OutboxRow | null {
  const row = tx.db.outbox.get(id);
  return row !== undefined && (tenantId === null || row.tenantId === tenantId) ? row : null;
}

function oldestFirst(a: OutboxRow, b: OutboxRow): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.id, b.id);
}

function viewOf({ claimToken: _claimToken, ...entry }: OutboxRow): OutboxEntry {
  return entry;
}
