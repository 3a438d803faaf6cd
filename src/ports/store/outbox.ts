import type { Json } from '../../core/json.ts';
import type { WebhookErrorClass, WebhookEvent } from '../../core/webhook-events.ts';

/** An outgoing webhook that is not delivered yet, to one target (http-api.md 21). */
export interface OutboxEntry {
  /** Also the id of its delivery: all attempts, those by hand included, are attempts of one delivery. */
  readonly id: string;
  readonly tenantId: string;
  readonly instanceId: string;
  readonly eventType: WebhookEvent;
  readonly url: string;
  readonly payload: Json;
  readonly status: OutboxStatus;
  readonly attempts: number;
  readonly lastError: string | null;
  /** When it is tried next; while it is being sent, when its sender counts as dead; null when it is parked. */
  readonly nextAttemptAt: number | null;
  readonly claimedAt: number | null;
  readonly createdAt: number;
}

export type OutboxStatus = 'pending' | 'in_flight' | 'parked';

export interface ClaimWebhooks {
  readonly claimToken: string;
  /** How long the sender may take before others try. */
  readonly leaseMs: number;
  /** Most that the caller sends to one target at once. */
  readonly perUrl: number;
  /** By target, what the caller is sending already. */
  readonly underWay: Readonly<Record<string, number>>;
}

/** What came of one attempt. */
export interface WebhookAttemptResult {
  readonly id: string;
  readonly claimToken: string;
  readonly durationMs: number;
  readonly signed: boolean;
  readonly statusCode: number | null;
  /** null: it was delivered. */
  readonly errorClass: WebhookErrorClass | null;
  readonly errorExcerpt: string | null;
  /** Absent after a failure: the row is parked. */
  readonly retryAfterMs?: number;
}

/** All attempts to send one webhook to one target. */
export interface WebhookDelivery {
  readonly deliveryId: string;
  readonly url: string;
  readonly eventType: WebhookEvent;
  readonly instanceId: string;
  readonly attempts: number;
  readonly delivered: boolean;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly lastErrorClass: WebhookErrorClass | null;
}

export interface WebhookAttempt {
  readonly id: string;
  readonly deliveryId: string;
  readonly url: string;
  readonly eventType: WebhookEvent;
  readonly instanceId: string;
  /** From 1. */
  readonly attemptNumber: number;
  readonly attemptedAt: number;
  readonly durationMs: number;
  readonly success: boolean;
  readonly statusCode: number | null;
  readonly errorClass: WebhookErrorClass | null;
  readonly errorExcerpt: string | null;
  readonly signed: boolean;
}

export interface DeliveryQuery {
  readonly tenantId: string | null;
  readonly url: string | null;
  readonly eventType: string | null;
  readonly delivered: boolean | null;
  readonly errorClass: WebhookErrorClass | null;
  readonly limit: number;
}

/** Outgoing webhooks: rows are written by commits (TurnStore), taken by one sender at a time, and gone once delivered. */
export interface OutboxStore {
  /** Takes rows whose time has come, also those whose sender died, a bounded number for each target. */
  claimWebhooks(request: ClaimWebhooks): Promise<readonly OutboxEntry[]>;
  /** Takes one row whatever its state. `busy`: somebody is sending it. */
  claimWebhook(
    request: Pick<ClaimWebhooks, 'claimToken' | 'leaseMs'> & {
      readonly tenantId: string | null;
      readonly id: string;
    },
  ): Promise<
    { readonly status: 'claimed'; readonly entry: OutboxEntry } | { readonly status: 'not_found' | 'busy' }
  >;
  /** Writes an attempt down and lets the row go, wait or be parked. False: the claim is somebody else's, nothing changed. */
  finishWebhook(result: WebhookAttemptResult): Promise<boolean>;
  /** Newest first. */
  listWebhookOutbox(
    tenantId: string | null,
    status: OutboxStatus,
    limit: number,
  ): Promise<readonly OutboxEntry[]>;
  getWebhook(tenantId: string | null, id: string): Promise<OutboxEntry | null>;
  /** False when there is none. */
  deleteWebhook(tenantId: string | null, id: string): Promise<boolean>;
  /** Deliveries of the last 30 days, newest first. */
  listWebhookDeliveries(query: DeliveryQuery): Promise<readonly WebhookDelivery[]>;
  /** In order, the first thousand; null: no such delivery. */
  listWebhookAttempts(tenantId: string | null, deliveryId: string): Promise<readonly WebhookAttempt[] | null>;
}
