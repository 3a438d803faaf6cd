import type { OutboxEntry, OutboxStore } from '../../ports/store/outbox.ts';
import { type Alarm, createAlarm } from '../alarm.ts';
import type { IdSource } from '../ids.ts';
import type { AttemptParts } from './attempt-webhook.ts';
import { createLanes } from './lanes.ts';

export interface WebhookSenderParts extends AttemptParts {
  readonly store: Pick<OutboxStore, 'claimWebhooks' | 'claimWebhook' | 'finishWebhook'>;
  readonly ids: IdSource;
}

/** What came of an attempt by hand. */
export type Redelivered =
  | { readonly status: 'delivered' | 'not_found' | 'busy' }
  | { readonly status: 'failed'; readonly message: string };

/** For a request with an Idempotency-Key: the store that records its calls, and the token of all its attempts. */
export interface RedeliverThrough {
  readonly store: OutboxStore;
  readonly claimToken: string;
}

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
  redeliver(tenantId: string | null, id: string, through?: RedeliverThrough): Promise<Redelivered>;
  /** Takes nothing more; resolves when what is on its way has been answered. */
  stop(): Promise<void>;
}

/** Loaded with the first webhook, so that functions stay small (docs/decisions/0014). */
const attempts = () => import('./attempt-webhook.ts');

/** To one target at once. */
const PER_URL = 8;
/** What a claim lasts beyond the time limit of an attempt. */
const BEYOND_MS = 30_000;

export function createWebhookSender(parts: WebhookSenderParts): WebhookSender {
  const { store, clock, ids, log, settings } = parts;
  const leaseMs = settings.timeoutMs + BEYOND_MS;
  const tell = (message: string, error: unknown): void => log.warn(message, { error: String(error) });
  let mayTake = (): boolean => true;
  const poke = (): void => {
    pass.look().catch((error: unknown) => tell('the outbox could not be read', error));
  };
  const alarm = createAlarm(clock, poke);
  const pass = createPass({ parts, leaseMs, alarm, poke, tell, mayTake: () => mayTake() });

  return {
    signs: settings.secret !== null,
    poke,
    async deliverDue(mayWait) {
      mayTake = () => mayWait(0);
      for (;;) {
        await pass.look();
        await pass.idle();
        const retryAt = pass.takeRetryAt();
        if (retryAt === null || !mayTake()) return;
        const waitMs = Math.max(0, retryAt - clock.monotonicMs());
        if (!mayWait(waitMs)) return;
        await new Promise<void>((resume) => {
          clock.after(waitMs, resume);
        });
      }
    },
    async redeliver(tenantId, id, through) {
      const { claimToken, ...own } = through ?? { store, claimToken: ids.newId() };
      const claimed = await own.store.claimWebhook({ tenantId, id, claimToken, leaseMs });
      if (claimed.status !== 'claimed') return { status: claimed.status };
      const { attemptWebhook } = await attempts();
      const { sent } = await attemptWebhook({ ...parts, ...own }, claimed.entry, claimToken, {
        byHand: true,
      });
      return sent.errorClass === null
        ? { status: 'delivered' }
        : { status: 'failed', message: sent.errorExcerpt ?? sent.errorClass };
    },
    async stop() {
      mayTake = () => false;
      alarm.disarm();
      await pass.idle();
    },
  };
}

/** Looks for rows and what is sent of them. */
interface Pass {
  /** One look at a time; a call during a look is one more look after it. */
  look(): Promise<void>;
  /** Resolves when nothing is looked for and nothing is on its way. */
  idle(): Promise<void>;
  /** On the monotonic clock: when the next retry since the last call falls due; null when there is none. */
  takeRetryAt(): number | null;
}

interface PassParts {
  readonly parts: WebhookSenderParts;
  readonly leaseMs: number;
  readonly alarm: Alarm;
  readonly poke: () => void;
  readonly tell: (message: string, error: unknown) => void;
  readonly mayTake: () => boolean;
}

function createPass({ parts, leaseMs, alarm, poke, tell, mayTake }: PassParts): Pass {
  const { store, clock, ids } = parts;
  const lanes = createLanes(PER_URL);
  const sending = new Set<Promise<void>>();
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let retryAt: number | null = null;

  const deliver = async (entry: OutboxEntry, claimToken: string): Promise<void> => {
    try {
      const { attemptWebhook } = await attempts();
      const { retryAfterMs } = await attemptWebhook(parts, entry, claimToken);
      if (retryAfterMs === null) return;
      const at = clock.monotonicMs() + retryAfterMs;
      retryAt = retryAt === null ? at : Math.min(retryAt, at);
      if (mayTake()) alarm.arm(retryAfterMs);
    } catch (error) {
      tell('an attempt to deliver a webhook could not be written down', error);
    }
  };
  const begin = (entry: OutboxEntry, claimToken: string): void => {
    const done = deliver(entry, claimToken).then(() => {
      sending.delete(done);
      if (lanes.end(entry.url)) poke();
    });
    lanes.begin(entry.url);
    sending.add(done);
  };
  const lookWhileAsked = async (): Promise<void> => {
    while (lookAgain && mayTake()) {
      lookAgain = false;
      const claimToken = ids.newId();
      const underWay = lanes.underWay();
      const entries = await store.claimWebhooks({ claimToken, leaseMs, perUrl: PER_URL, underWay });
      for (const entry of entries) begin(entry, claimToken);
      lookAgain = lanes.looked(underWay, entries) || lookAgain;
    }
  };
  return {
    look() {
      lookAgain = true;
      looking ??= lookWhileAsked().finally(() => {
        looking = null;
      });
      return looking;
    },
    async idle() {
      while (looking !== null || sending.size > 0) await Promise.allSettled([looking, ...sending]);
    },
    takeRetryAt: () => {
      const at = retryAt;
      retryAt = null;
      return at;
    },
  };
}
