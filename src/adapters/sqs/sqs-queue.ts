import type { SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import { sha256Hex } from '../../core/digest.ts';
import { encodeHintMessage } from '../../core/hint-message.ts';
import { HOST_CALL_MS } from '../../ports/host-call.ts';
import { withinTime } from '../../core/within-time.ts';
import type { Hint } from '../../ports/hints.ts';
import { HINT_DELAY_MAX_MS, type HintQueue } from '../../ports/queue.ts';
import type { Clock, Log } from '../../ports/system.ts';

/** Most entries of one request (SQS). */
const BATCH_MAX = 10;
/** What SQS allows in a group id. */
const GROUP_ID = /^[!-~]{1,128}$/;
const CONNECT_TIMEOUT_MS = 1_000;
/** Of one try. A hint must not hold up the invocation that sends it: the sweep makes up for a lost one. */
const REQUEST_TIMEOUT_MS = 1_500;
const TRIES_MAX = 3;

export interface SqsQueueOptions {
  readonly queueUrl: string;
  readonly log: Log;
  readonly clock: Pick<Clock, 'soon' | 'after'>;
}

/** Hints over a standard SQS queue. */
export interface SqsQueue extends HintQueue {
  /** Makes messages of this queue visible again at once that were received but not begun. Failures are logged and swallowed. */
  giveBack(receiptHandles: readonly string[]): Promise<void>;
}

/**
 * Region, credentials and endpoint are those of the AWS environment. Hints of one tick share requests of ten. The client is loaded with the first one: it is half of the bundle, and most
 * invocations send nothing (DESIGN 7).
 */
export function createSqsQueue(options: SqsQueueOptions): SqsQueue {
  const open = onceLoaded();
  const underWay = new Set<Promise<void>>();
  let gathered: Hint[] = [];

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  };

  const gather = (): Promise<void> =>
    new Promise((resolve) => {
      options.clock.soon(() => {
        const hints = gathered;
        gathered = [];
        void sendAll(options, open, hints).then(resolve);
      });
    });

  return {
    send(hints) {
      if (hints.length === 0) return;
      if (gathered.length === 0) track(gather());
      gathered.push(...hints);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async giveBack(receiptHandles) {
      await Promise.all(batches(receiptHandles).map((batch) => makeVisible(options, open, batch)));
    },
  };
}

async function openClient() {
  const sdk = await import('@aws-sdk/client-sqs');
  const client = new sdk.SQSClient({
    maxAttempts: TRIES_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Otherwise the client says so in its log, and goes on waiting.
      throwOnRequestTimeout: true,
    },
  });
  return { sdk, client };
}

type OpenClient = Awaited<ReturnType<typeof openClient>>;

function onceLoaded(): () => Promise<OpenClient> {
  let opened: Promise<OpenClient> | null = null;
  return () => {
    opened ??= openClient();
    return opened;
  };
}

async function sendAll(
  options: SqsQueueOptions,
  open: () => Promise<OpenClient>,
  hints: readonly Hint[],
): Promise<void> {
  const entries = [...new Map(hints.flatMap((hint) => entryOf(options.log, hint))).values()];
  await Promise.all(batches(entries).map((batch) => sendBatch(options, open, batch)));
}

/** The entry of a hint under a key that is the same for hints which say the same. */
function entryOf(log: Log, hint: Hint): [string, Omit<SendMessageBatchRequestEntry, 'Id'>][] {
  const { tenantId, instanceId, delayMs } = hint;
  const body = encodeHintMessage({ tenantId, instanceId });
  if (body === null || !(delayMs <= HINT_DELAY_MAX_MS)) {
    log.error('a hint does not fit into the queue', { instance_id: instanceId, delay_ms: delayMs });
    return [];
  }
  // Rounded up: what comes too early finds nothing due, and the instance would have to wait for the sweep.
  const delaySeconds = Math.ceil(Math.max(0, delayMs) / 1000);
  const entry = { MessageBody: body, DelaySeconds: delaySeconds, MessageGroupId: groupOf(tenantId) };
  return [[`${body}${delaySeconds}`, entry]];
}

/** Fair queues: a tenant with a long backlog does not hold up the others (reliability.md 5.1). */
function groupOf(tenantId: string): string {
  return GROUP_ID.test(tenantId) ? tenantId : sha256Hex(tenantId);
}

async function sendBatch(
  { queueUrl, log, clock }: SqsQueueOptions,
  open: () => Promise<OpenClient>,
  batch: readonly Omit<SendMessageBatchRequestEntry, 'Id'>[],
): Promise<void> {
  try {
    const { sdk, client } = await open();
    const Entries = batch.map((entry, index) => ({ ...entry, Id: String(index) }));
    const command = new sdk.SendMessageBatchCommand({ QueueUrl: queueUrl, Entries });
    const { Failed } = await bounded(clock, (options) => client.send(command, options));
    if (Failed !== undefined && Failed.length > 0) {
      log.warn('the queue refused hints', { count: Failed.length, code: Failed[0]?.Code });
    }
  } catch (error) {
    log.warn('hints could not be sent', { count: batch.length, error: String(error) });
  }
}

async function makeVisible(
  { queueUrl, log, clock }: SqsQueueOptions,
  open: () => Promise<OpenClient>,
  batch: readonly string[],
): Promise<void> {
  try {
    const { sdk, client } = await open();
    const Entries = batch.map((handle, index) => ({
      Id: String(index),
      ReceiptHandle: handle,
      VisibilityTimeout: 0,
    }));
    const command = new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries });
    const { Failed } = await bounded(clock, (options) => client.send(command, options));
    if (Failed !== undefined && Failed.length > 0) {
      // They come again when their visibility ends.
      log.warn('the queue did not take messages back', { count: Failed.length, code: Failed[0]?.Code });
    }
  } catch (error) {
    log.warn('messages could not be given back at once', { count: batch.length, error: String(error) });
  }
}

/** One call with all its tries. */
function bounded<T>(
  clock: Pick<Clock, 'after'>,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const sent = send({ abortSignal: controller.signal });
  return withinTime(clock.after, HOST_CALL_MS, sent, () => controller.abort());
}

function batches<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / BATCH_MAX) }, (_, index) =>
    items.slice(index * BATCH_MAX, (index + 1) * BATCH_MAX),
  );
}
