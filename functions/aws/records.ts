import { decodeHintMessage } from '../../src/core/hint-message.ts';
import { type HintOutcome, runHints } from '../../src/engine/invocation.ts';
import type { AwsParts } from './compose.ts';
import { keepWake, type OwnAddress } from './economy.ts';

export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
}

/** The host's own shape, which it does not send otherwise; what users could get wrong stands in the bodies. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

/**
 * `poison`: the message is no hint, and looking at it again will not make it one. `unguarded`: its work was done, but no wake
 * could be kept for what that left behind, so the message comes again in its place.
 */
export interface RecordOutcome {
  readonly record: SqsRecord;
  readonly outcome: HintOutcome | 'poison' | 'unguarded';
}

/** The records that are reported are received again; all others are done with. */
export interface SqsBatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export interface Remaining {
  getRemainingTimeInMillis(): number;
}

/** Works through an SQS event; one outcome per record, whatever becomes of the others. */
export async function runRecords(
  parts: AwsParts,
  event: SqsEvent,
  context: Remaining & OwnAddress,
): Promise<readonly RecordOutcome[]> {
  const { engine, log } = parts;
  const isGuarded = await keepWake(parts, context);
  const read = event.Records.map((record) => ({
    record,
    hint: decodeHintMessage(record.body),
  }));
  const good = read.flatMap(({ record, hint }) => (hint.ok ? [{ record, target: hint.value }] : []));
  const outcomes = await runHints(
    engine,
    good.map(({ target }) => target),
    () => context.getRemainingTimeInMillis(),
  );
  const isLeft = isGuarded || (await keepWake(parts, context)) ? 'done' : 'unguarded';
  const done = good.map(({ record }, index): RecordOutcome => {
    const outcome = outcomes[index] ?? 'retry';
    return { record, outcome: outcome === 'done' ? isLeft : outcome };
  });
  const poison = read.flatMap(({ record, hint }): RecordOutcome[] => {
    if (hint.ok) return [];
    log.error('a queue message is no hint', { message_id: record.messageId, problem: hint.error });
    return [{ record, outcome: 'poison' }];
  });
  return [...done, ...poison];
}

export function failuresOf(records: readonly RecordOutcome[]): SqsBatchResponse {
  return { batchItemFailures: records.map(({ record }) => ({ itemIdentifier: record.messageId })) };
}
