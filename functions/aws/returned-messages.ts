import type { Log } from '../../src/ports/system.ts';

/** What the host sends with each message; older senders of tests leave it out. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly attributes?: { readonly ApproximateReceiveCount?: string };
}

/** After as many receives it is no accident any more; the alarm for such messages has the same bound (infra/alarms.ts). */
const RETURNS = 3;

/**
 * Says which messages were received again and again, before they are worked on, so that it is also said of those at which the
 * process ends. No metric of the queue tells it: the age of its oldest message leaves such messages out.
 */
export function tellReturned(watched: Log, messages: readonly ReceivedMessage[]): void {
  for (const { messageId, attributes } of messages) {
    const receiveCount = Number(attributes?.ApproximateReceiveCount ?? 1);
    if (receiveCount < RETURNS) continue;
    watched.warn('a message comes back', { message_id: messageId, receive_count: receiveCount });
  }
}
