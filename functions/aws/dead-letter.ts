import type { AwsHost } from './compose.ts';
import type { OwnAddress } from './economy.ts';
import { failuresOf, type Remaining, runRecords, type SqsBatchResponse, type SqsEvent } from './records.ts';

/**
 * Messages that failed again and again. A hint among them was only late: its instance is looked at once more, and the
 * sweep has it in any case. Each is logged as an error; what is no hint is dropped with that. What was not begun
 * in time comes again when its visibility ends: this queue's messages are not given back, for nobody waits for them.
 */
export function createDeadLetterHandler(
  host: AwsHost,
): (event: SqsEvent, context: Remaining & OwnAddress) => Promise<SqsBatchResponse> {
  return async (event, context) => {
    const parts = await host();
    const records = await runRecords(parts, event, context);
    for (const { record, outcome } of records) {
      parts.log.error('a message came to the dead-letter queue', { message_id: record.messageId, outcome });
    }
    return failuresOf(records.filter(({ outcome }) => outcome !== 'done' && outcome !== 'poison'));
  };
}

export { createAwsHost } from './compose.ts';
