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
  /** Polls until nothing can be received any more, however often visibility has to end. Answers how many batches came. */
  drain(): Promise<number>;
  /** The function has no room for so many batches to come: they count as received, and wait for the end of their visibility. */
  throttle(batchCount: number): void;
  /**
   * The visibility of all that failed or found no room is over: until then it cannot be received, unless the function gives it
   * back. Answers how many messages that was.
   */
  endVisibility(): Promise<number>;
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
  /** Receipt handles of the messages that came and are not done with, by message. */
  const held = new Map<string, string>();
  let throttled = 0;
  const failedOf = async (records: readonly SqsEventRecord[]): Promise<ReadonlySet<string>> => {
    if (throttled === 0) return failedIds(invoke, records);
    throttled -= 1;
    return idsOf(records);
  };
  const poll = async (): Promise<number> => {
    const records = await receive(sqs, queue, batchSize);
    for (const { messageId } of records) held.delete(messageId);
    if (records.length === 0) return 0;
    const failed = await failedOf(records);
    for (const { messageId, receiptHandle } of records) {
      if (failed.has(messageId)) held.set(messageId, receiptHandle);
      else await sqs.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: receiptHandle }));
    }
    return records.length;
  };
  const endVisibility = async (): Promise<number> => {
    const handles = [...held.values()];
    held.clear();
    for (const handle of handles) await makeVisible(sqs, { QueueUrl: queue.url, ReceiptHandle: handle });
    return handles.length;
  };
  return {
    poll,
    endVisibility,
    async drain() {
      for (let calls = 0; calls < POLLS_MAX; ) {
        if ((await poll()) > 0) calls += 1;
        else if ((await endVisibility()) === 0) return calls;
      }
      throw new Error(`the queue was not empty after ${POLLS_MAX} batches`);
    },
    throttle(batchCount) {
      throttled += batchCount;
    },
  };
}

async function receive(
  sqs: SQSClient,
  queue: TestQueue,
  batchSize: number,
): Promise<readonly SqsEventRecord[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queue.url,
      MaxNumberOfMessages: batchSize,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages.map((message) => recordOf(queue.arn, message));
}

function idsOf(records: readonly SqsEventRecord[]): ReadonlySet<string> {
  return new Set(records.map(({ messageId }) => messageId));
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
  const all = idsOf(records);
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
