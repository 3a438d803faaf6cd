import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { QueueBatch } from '../../../functions/cloudflare/platform.ts';

const CONFIG = join(resolve(import.meta.dirname, '../../..'), 'examples/deploy-cloudflare/wrangler.jsonc');

const Consumer = z.object({
  queue: z.string(),
  max_retries: z.int().max(100),
  /** Seconds. */
  retry_delay: z.int(),
  dead_letter_queue: z.string().optional(),
});
type Consumer = z.infer<typeof Consumer>;

/** What became of a message: when it was done with, or deleted unread because its retries were used up; in seconds after it came. */
export interface MessageEnd {
  readonly fate: 'done' | 'deleted';
  readonly atSecs: number;
  /** The queues in which it was received, and how often. */
  readonly receives: Readonly<Record<string, number>>;
}

/**
 * One message through the queues of the template, as the platform plays them: so many retries, then the dead-letter queue, and where
 * there is none, nothing. Time is counted, not waited for.
 *
 * @param deliver What receives a batch, and when.
 */
export async function followMessage(
  body: string,
  deliver: (batch: QueueBatch, atSecs: number) => Promise<void>,
): Promise<MessageEnd> {
  const receives: Record<string, number> = {};
  let atSecs = 0;
  let consumer: Consumer | undefined = consumerOf('stepwell-turns');
  for (; consumer !== undefined; consumer = next(consumer)) {
    const { queue, max_retries, retry_delay } = consumer;
    for (let attempts = 1; attempts <= max_retries + 1; attempts += 1) {
      let pauseSecs: number | null = retry_delay;
      const message = {
        id: 'm1',
        body,
        attempts,
        ack: () => {
          pauseSecs = null;
        },
        retry: (options?: { readonly delaySeconds?: number }) => {
          pauseSecs = options?.delaySeconds ?? retry_delay;
        },
      };
      receives[queue] = attempts;
      // An invocation that fails has said nothing of its messages.
      await deliver({ queue, messages: [message] }, atSecs).catch(() => undefined);
      if (pauseSecs === null) return { fate: 'done', atSecs, receives };
      if (attempts <= max_retries) atSecs += pauseSecs;
    }
  }
  return { fate: 'deleted', atSecs, receives };
}

function next({ dead_letter_queue: name }: Consumer): Consumer | undefined {
  return name === undefined ? undefined : consumerOf(name);
}

function consumerOf(name: string): Consumer {
  const found = configuredConsumers().find(({ queue }) => queue === name);
  if (found === undefined) throw new Error(`nobody consumes ${name}`);
  return found;
}

/** Its comments stand on lines of their own. */
function configuredConsumers(): readonly Consumer[] {
  const text = readFileSync(CONFIG, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '');
  return z.object({ queues: z.object({ consumers: z.array(Consumer) }) }).parse(JSON.parse(text)).queues
    .consumers;
}
