import type { HttpEffects } from '../../ports/effects.ts';
import type { OutboxEntry, OutboxStore } from '../../ports/store/outbox.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { createAlarm } from '../alarm.ts';
import type { Counters } from '../counters.ts';
import type { IdSource } from '../ids.ts';
import { untilAnswered } from '../until-answered.ts';
import { type Sent, sendWebhook, type WebhookSettings } from './send-webhook.ts';

export interface WebhookSenderParts {
  readonly store: Pick<OutboxStore, 'claimWebhooks' | 'claimWebhook' | 'finishWebhook'>;
  readonly effects: HttpEffects;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly counters: Counters;
  readonly settings: WebhookSettings;
}

/** What came of an attempt by hand. */
export type Redelivered =
  | { readonly status: 'delivered' | 'not_found' | 'busy' }
  | { readonly status: 'failed'; readonly message: string };

/** Sends what the outbox holds; one per process. */
export interface WebhookSender {
  /** What it sends is signed. */
  readonly signs: boolean;
  /** There may be something to send now. Never rejects, and nobody waits for it. */
  poke(): void;
  /**
   * Sends what is due, and what falls due again, while the host has time.
   *
   * @param mayWait Whether there is time to wait so many ms.
   */
  deliverDue(mayWait: (ms: number) => boolean): Promise<void>;
  redeliver(tenantId: string | null, id: string): Promise<Redelivered>;
  /** Takes nothing more; resolves when what is on its way has been answered. */
  stop(): Promise<void>;
}

/** To one target at once, so that a slow one has few of the process's connections. */
const PER_URL = 8;
/** What a claim lasts beyond the time limit of an attempt. */
const BEYOND_MS = 30_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 3_600_000;
/** Tries to write down what came of an attempt; then the claim runs out and the webhook is sent once more. */
const FINISH_TRIES_MAX = 8;

export function createWebhookSender(parts: WebhookSenderParts): WebhookSender {
  const { store, clock, ids, log, settings } = parts;
  const leaseMs = settings.timeoutMs + BEYOND_MS;
  const underWay = new Map<string, number>();
  const sending = new Set<Promise<void>>();
  /** Targets that had as many rows for us as we could take: there are probably more. */
  let more: ReadonlySet<string> = new Set();
  let stopped = false;
  let mayTake = (): boolean => !stopped;
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  /** On the monotonic clock: when the next retry of this process falls due. */
  let retryAt: number | null = null;

  const poke = (): void => {
    look().catch((error: unknown) => log.warn('the outbox could not be read', { error: String(error) }));
  };
  const alarm = createAlarm(clock, poke);

  const begin = (entry: OutboxEntry, claimToken: string): void => {
    underWay.set(entry.url, (underWay.get(entry.url) ?? 0) + 1);
    const done = attempt(parts, entry, claimToken)
      .then(({ retryAfterMs }) => {
        if (retryAfterMs === undefined) return;
        const at = clock.monotonicMs() + retryAfterMs;
        retryAt = retryAt === null ? at : Math.min(retryAt, at);
        if (!stopped) alarm.arm(retryAfterMs);
      })
      .catch((error: unknown) => {
        log.warn('an attempt to deliver a webhook could not be written down', { error: String(error) });
      })
      .finally(() => {
        const left = (underWay.get(entry.url) ?? 1) - 1;
        if (left === 0) underWay.delete(entry.url);
        else underWay.set(entry.url, left);
        sending.delete(done);
        if (more.has(entry.url)) poke();
      });
    sending.add(done);
  };

  /** One look at a time; a call during a look is one more look after it. */
  const look = (): Promise<void> => {
    lookAgain = true;
    looking ??= lookWhileAsked().finally(() => {
      looking = null;
    });
    return looking;
  };
  const lookWhileAsked = async (): Promise<void> => {
    while (lookAgain && mayTake()) {
      lookAgain = false;
      const claimToken = ids.newId();
      const taken = new Map(underWay);
      const request = { claimToken, leaseMs, perUrl: PER_URL, underWay: Object.fromEntries(taken) };
      const entries = await store.claimWebhooks(request);
      for (const entry of entries) {
        taken.set(entry.url, (taken.get(entry.url) ?? 0) + 1);
        begin(entry, claimToken);
      }
      more = new Set([...taken].flatMap(([url, count]) => (count >= PER_URL ? [url] : [])));
      lookAgain ||= [...more].some((url) => (underWay.get(url) ?? 0) < PER_URL);
    }
  };
  const idle = async (): Promise<void> => {
    while (looking !== null || sending.size > 0) {
      await Promise.allSettled([looking, ...sending]);
    }
  };

  return {
    signs: settings.secret !== null,
    poke,
    async deliverDue(mayWait) {
      mayTake = () => !stopped && mayWait(0);
      for (;;) {
        retryAt = null;
        await look();
        await idle();
        const waitMs = nextRetryIn(clock, retryAt);
        if (waitMs === null || !mayTake() || !mayWait(waitMs)) return;
        await new Promise<void>((resume) => {
          clock.after(waitMs, resume);
        });
      }
    },
    async redeliver(tenantId, id) {
      const claimToken = ids.newId();
      const claimed = await store.claimWebhook({ tenantId, id, claimToken, leaseMs });
      if (claimed.status !== 'claimed') return { status: claimed.status };
      const { sent } = await attempt(parts, claimed.entry, claimToken, { byHand: true });
      return sent.errorClass === null
        ? { status: 'delivered' }
        : { status: 'failed', message: sent.errorExcerpt ?? sent.errorClass };
    },
    async stop() {
      stopped = true;
      alarm.disarm();
      await idle();
    },
  };
}

function nextRetryIn(clock: Pick<Clock, 'monotonicMs'>, retryAt: number | null): number | null {
  return retryAt === null ? null : Math.max(0, retryAt - clock.monotonicMs());
}

/** One attempt and what it leads to: gone, tried again after 0.5, 1, 2 s and so on, or parked. */
async function attempt(
  { store, effects, clock, counters, settings, log }: WebhookSenderParts,
  entry: OutboxEntry,
  claimToken: string,
  { byHand = false }: { readonly byHand?: boolean } = {},
): Promise<{ readonly sent: Sent; readonly retryAfterMs?: number }> {
  const sent = await sendWebhook(effects, clock, settings, entry);
  const mayRetry = !byHand && sent.retry && entry.attempts < settings.maxRetries;
  const retryAfterMs = Math.min(FIRST_RETRY_MS * 2 ** entry.attempts, LONGEST_RETRY_MS);
  const next = mayRetry ? { retryAfterMs } : {};
  const { retry: _retry, ...result } = sent;
  const finish = () => store.finishWebhook({ id: entry.id, claimToken, ...result, ...next });
  await untilAnswered(clock, finish, (tries) => tries < FINISH_TRIES_MAX);
  if (sent.errorClass === null) {
    counters.add('orch8_webhooks_sent_total');
    return { sent };
  }
  counters.add('orch8_webhooks_failed_total');
  if (mayRetry) return { sent, retryAfterMs };
  counters.add('orch8_webhooks_parked_total');
  log.warn('a webhook is parked', { webhook_id: entry.id, error_class: sent.errorClass });
  return { sent };
}
