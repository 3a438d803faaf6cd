import { type Parts, RECEIVES_MAX, TIME_LIMIT_SECONDS } from './parts.ts';

const FORTNIGHT_SECONDS = 14 * 24 * 60 * 60;
/** Six times the time limit, as AWS advises: less, and a message comes again while its batch is still worked on. */
const VISIBILITY = `${TIME_LIMIT_SECONDS * 6} seconds` as const;
/** At rest, with the key of the service: the default of AWS for new queues, which nobody shall take back. */
const ENCRYPTED = { sqsManagedSseEnabled: true } as const;

export interface Queues {
  readonly turns: sst.aws.Queue;
  readonly deadLetters: sst.aws.Queue;
}

/**
 * Hints at instances, and those that failed again and again. Five receives, because those count too that the function's
 * concurrency turned away (reliability.md 5.1).
 */
export function createQueues({ name, opts }: Parts): Queues {
  const deadLetters = new sst.aws.Queue(
    `${name}DeadLetters`,
    {
      visibilityTimeout: VISIBILITY,
      transform: { queue: { ...ENCRYPTED, messageRetentionSeconds: FORTNIGHT_SECONDS } },
    },
    opts,
  );
  const turns = new sst.aws.Queue(
    `${name}Turns`,
    {
      visibilityTimeout: VISIBILITY,
      dlq: { queue: deadLetters.arn, retry: RECEIVES_MAX },
      transform: { queue: ENCRYPTED },
    },
    opts,
  );
  return { turns, deadLetters };
}
