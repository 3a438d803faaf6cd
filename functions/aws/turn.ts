import type { AwsHost } from './compose.ts';
import type { OwnAddress } from './economy.ts';
import { tellReturned } from './returned-messages.ts';
import { failuresOf, type Remaining, runRecords, type SqsBatchResponse, type SqsEvent } from './records.ts';

/**
 * Queue messages: one turn for each instance that is due. What is reported as failed comes again: when the database could
 * not be asked, when the time was up, and what is no hint, which so ends in the dead-letter queue.
 */
export function createTurnHandler(
  host: AwsHost,
): (event: SqsEvent, context: Remaining & OwnAddress) => Promise<SqsBatchResponse> {
  return async (event, context) => {
    const parts = await host();
    tellReturned(parts.watched, event.Records);
    const records = await runRecords(parts, event, context);
    // They would come again when their visibility ends, minutes later.
    await parts.queue.giveBack(
      records.flatMap(({ record, outcome }) => (outcome === 'unstarted' ? [record.receiptHandle] : [])),
    );
    return failuresOf(records.filter(({ outcome }) => outcome !== 'done'));
  };
}

export { createAwsHost } from './compose.ts';
