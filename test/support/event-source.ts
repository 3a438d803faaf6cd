import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  MessageNotInflight,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { TestQueue } from './sqs-server.ts';

/** What stands between a queue and a function on AWS, with `ReportBatchItemFailures`. */
export interface EventSource {
  /** Receives one batch, calls the function, deletes what it did not report. Answers how many messages came. */
  poll(): Promise<number>;
  /** Polls until nothing can be received any more. Answers how many times the function was called. */
  drain(): Promise<number>;
}

export interface EventSourceOptions {
  readonly queue: TestQueue;
  readonly batchSize?: number;
  readonly invoke: (event: SqsEvent) => Promise<unknown>;
}

export interface SqsEvent {
  readonly Records: readonly SqsEventRecord[];
}

interface SqsEventRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageAttributes: object;
  readonly md5OfBody: string;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

const POLLS_MAX = 500;

export function createEventSource({ queue, batchSize = 10, invoke }: EventSourceOptions): EventSource {
  const sqs = new SQSClient({});
  const poll = async (): Promise<number> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: batchSize,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return 0;
    const records = Messages.map((message) => recordOf(queue.arn, message));
    const failed = await failedIds(invoke, records);
    for (const { messageId, receiptHandle } of records) {
      const of = { QueueUrl: queue.url, ReceiptHandle: receiptHandle };
      // A failed message comes again when its visibility ends; here that is at once, so that no test waits for it.
      if (!failed.has(messageId)) await sqs.send(new DeleteMessageCommand(of));
      else await makeVisible(sqs, of);
    }
    return records.length;
  };
  return {
    poll,
    async drain() {
      for (let calls = 0; calls < POLLS_MAX; calls += 1) if ((await poll()) === 0) return calls;
      throw new Error(`the queue was not empty after ${POLLS_MAX} batches`);
    },
  };
}

/** The function may have given the message back already. */
async function makeVisible(sqs: SQSClient, of: { QueueUrl: string; ReceiptHandle: string }): Promise<void> {
  try {
    await sqs.send(new ChangeMessageVisibilityCommand({ ...of, VisibilityTimeout: 0 }));
  } catch (error) {
    if (!(error instanceof MessageNotInflight)) throw error;
  }
}

/** A function that throws, or reports a message that was not in the batch, has failed for the whole batch. */
async function failedIds(
  invoke: EventSourceOptions['invoke'],
  records: readonly SqsEventRecord[],
): Promise<ReadonlySet<string>> {
  const all = new Set(records.map(({ messageId }) => messageId));
  try {
    const answer = (await invoke({ Records: records })) as {
      batchItemFailures?: { itemIdentifier: string }[];
    } | null;
    const failed = new Set((answer?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
    return [...failed].every((id) => all.has(id)) ? failed : all;
  } catch {
    return all;
  }
}

function recordOf(arn: string, message: Message): SqsEventRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: message.Attributes ?? {},
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: 'us-east-1',
  };
}
