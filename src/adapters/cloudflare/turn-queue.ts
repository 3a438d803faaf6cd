import { encodeHintMessage } from '../../core/hint-message.ts';
import { withinTime } from '../../core/within-time.ts';
import { HOST_CALL_MS } from '../../ports/host-call.ts';
import type { Hint } from '../../ports/hints.ts';
import { HINT_DELAY_MAX_MS, type HintQueue } from '../../ports/queue.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { QueueBinding, QueueSend } from './bindings.ts';

/** Most messages of one call. */
const BATCH_MAX = 100;

export interface TurnQueueParts {
  readonly binding: QueueBinding;
  readonly clock: Pick<Clock, 'soon' | 'after'>;
  readonly log: Log;
}

/** Hints over a Cloudflare Queue, one per invocation. Hints of one tick share calls, and those that say the same are one. */
export function createTurnQueue({ binding, clock, log }: TurnQueueParts): HintQueue {
  const underWay = new Set<Promise<void>>();
  let gathered: Hint[] = [];

  const sendGathered = async (): Promise<void> => {
    const sends = new Map(gathered.flatMap((hint) => sendOf(log, hint)));
    gathered = [];
    const all = [...sends.values()];
    for (let from = 0; from < all.length; from += BATCH_MAX) {
      try {
        const sent = binding.sendBatch(all.slice(from, from + BATCH_MAX));
        await withinTime(clock.after, HOST_CALL_MS, sent);
      } catch (error) {
        log.warn('hints could not be sent', { count: all.length - from, error: String(error) });
        return;
      }
    }
  };
  const nextTick = (): Promise<void> => new Promise((resolve) => clock.soon(resolve));

  return {
    send(hints) {
      if (hints.length === 0) return;
      const isFirst = gathered.length === 0;
      gathered.push(...hints);
      if (!isFirst) return;
      const sent = nextTick()
        .then(sendGathered)
        .finally(() => underWay.delete(sent));
      underWay.add(sent);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** The message of a hint under a key that is the same for hints which say the same. */
function sendOf(log: Log, { tenantId, instanceId, delayMs }: Hint): [string, QueueSend][] {
  const body = encodeHintMessage({ tenantId, instanceId });
  if (body === null || !(delayMs <= HINT_DELAY_MAX_MS)) {
    log.error('a hint does not fit into the queue', { instance_id: instanceId, delay_ms: delayMs });
    return [];
  }
  // Rounded up: what comes too early finds nothing due, and the instance would have to wait for the next wake.
  const delaySeconds = Math.ceil(Math.max(0, delayMs) / 1000);
  return [[`${body}${delaySeconds}`, { body, contentType: 'text', delaySeconds }]];
}
