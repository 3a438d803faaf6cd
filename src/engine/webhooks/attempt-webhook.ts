import type { HttpEffects } from '../../ports/effects.ts';
import type { OutboxEntry, OutboxStore } from '../../ports/store/outbox.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { Counters } from '../counters.ts';
import { untilAnswered } from '../until-answered.ts';
import { type Sent, sendWebhook, type WebhookSettings } from './send-webhook.ts';

export interface AttemptParts {
  readonly store: Pick<OutboxStore, 'finishWebhook'>;
  readonly effects: HttpEffects;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  readonly settings: WebhookSettings;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 3_600_000;
/** Tries to write down what came of an attempt; then the claim runs out and the webhook is sent once more. */
const FINISH_TRIES_MAX = 8;

/** One attempt and what it leads to: gone, tried again after 0.5, 1, 2 s and so on, or parked. One by hand is never repeated. */
export async function attemptWebhook(
  { store, effects, clock, counters, settings, log }: AttemptParts,
  entry: OutboxEntry,
  claimToken: string,
  { byHand = false }: { readonly byHand?: boolean } = {},
): Promise<{ readonly sent: Sent; readonly retryAfterMs: number | null }> {
  const sent = await sendWebhook(effects, clock, settings, entry);
  const mayRetry = !byHand && sent.retry && entry.attempts < settings.maxRetries;
  const retryAfterMs = mayRetry ? Math.min(FIRST_RETRY_MS * 2 ** entry.attempts, LONGEST_RETRY_MS) : null;
  const { retry: _retry, ...result } = sent;
  const next = retryAfterMs === null ? {} : { retryAfterMs };
  const finish = () => store.finishWebhook({ id: entry.id, claimToken, ...result, ...next });
  await untilAnswered(clock, finish, (tries) => tries < FINISH_TRIES_MAX);
  if (sent.errorClass === null) {
    counters.add('orch8_webhooks_sent_total');
    return { sent, retryAfterMs };
  }
  counters.add('orch8_webhooks_failed_total');
  if (retryAfterMs === null && !byHand) {
    counters.add('orch8_webhooks_parked_total');
    log.warn('a webhook is parked', { webhook_id: entry.id, error_class: sent.errorClass });
  }
  return { sent, retryAfterMs };
}
