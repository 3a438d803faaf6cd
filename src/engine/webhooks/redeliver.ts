import { utf8Bytes } from '../../core/json.ts';
import { ok, type Result } from '../../core/result.ts';
import type { OutboxEntry } from '../../ports/store/outbox.ts';
import { notFound, refuse, type Refusal } from '../refusal.ts';
import type { Caller, UseCaseDeps } from '../use-case.ts';

export interface RedeliverPreview {
  readonly entry: OutboxEntry;
  readonly payloadBytes: number;
  readonly willBeSigned: boolean;
}

/**
 * One attempt now, whatever the entry waits for (http-api.md 21.2). 404 unknown, 409 while it is being sent, 502 when the
 * receiver did not take it: the entry then stays, parked. Answers the id of the delivery.
 */
export async function redeliver(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
): Promise<Result<string, Refusal>> {
  if (deps.outbox === undefined) return refuse('unavailable', 'this process sends no webhooks');
  const redelivered = await deps.outbox.redeliver(caller.tenantId, id);
  switch (redelivered.status) {
    case 'delivered':
      return ok(id);
    case 'not_found':
      return notFound('webhook', id);
    case 'busy':
      return refuse('conflict', `webhook ${id} is being sent right now`, { code: 'webhook_in_flight' });
    case 'failed':
      return refuse('bad_gateway', `the receiver did not take webhook ${id}: ${redelivered.message}`);
    default:
      return redelivered satisfies never;
  }
}

/** What a redelivery would send; sends nothing. */
export async function previewRedelivery(
  deps: UseCaseDeps,
  caller: Caller,
  id: string,
): Promise<Result<RedeliverPreview, Refusal>> {
  const entry = await deps.store.getWebhook(caller.tenantId, id);
  if (entry === null) return notFound('webhook', id);
  const payloadBytes = utf8Bytes(JSON.stringify(entry.payload));
  return ok({ entry, payloadBytes, willBeSigned: deps.outbox?.signs ?? false });
}
