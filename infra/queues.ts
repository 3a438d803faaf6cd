const FORTNIGHT_SECONDS = 14 * 24 * 60 * 60;

/** Messages that failed again and again: hints that came late, and what was no hint. */
export const deadLetters = new sst.aws.Queue('StepwellDeadLetters', {
  visibilityTimeout: '6 minutes',
  transform: { queue: { messageRetentionSeconds: FORTNIGHT_SECONDS } },
});

/**
 * Hints at instances. Visible again after six times the time limit of the function; five receives, because those count that
 * the function's concurrency turned away (reliability.md 5.1).
 */
export const turns = new sst.aws.Queue('StepwellTurns', {
  visibilityTimeout: '6 minutes',
  dlq: { queue: deadLetters.arn, retry: 5 },
});
