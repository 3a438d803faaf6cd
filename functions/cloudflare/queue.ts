import { decodeHintMessage } from '../../src/core/hint-message.ts';
import { type HintOutcome, runHints } from '../../src/engine/invocation.ts';
import type { Log } from '../../src/ports/system.ts';
import type { OpenInvocation } from './compose.ts';
import type { QueueBatch, QueueMessage, WorkerEnv } from './platform.ts';
import { publishOnce } from './publish.ts';

/** Queues whose name ends so hold messages that failed again and again. */
const DEAD_LETTERS = /dead-letters$/;
/** Pause before a message comes again because database or waker could not be asked; twice as long after each further time. */
const AGAIN_SECS = 10;
/**
 * The longest pause, and each one among the dead letters: with the platform's most retries (100) a message stays for eight hours, and
 * so longer than the safety net takes to come.
 */
const AGAIN_MAX_SECS = 300;

/**
 * Queue messages: one turn for each instance that is due, some at once, one outcome per message. A message that is no hint
 * is tried again until it ends in the dead-letter queue. From there a hint is followed until it can be, and everything is logged.
 */
export function createQueueConsumer(open: OpenInvocation) {
  return async (batch: QueueBatch, env: WorkerEnv): Promise<void> => {
    const invocation = open(env);
    const { engine, guard, remainingTimeMs } = invocation;
    const { log } = engine.deps;
    const isGuarded = await guard.keep();
    await publishOnce(invocation, invocation.waker);
    const isLast = DEAD_LETTERS.test(batch.queue);
    const hints = batch.messages.flatMap((message) => {
      const hint = decodeHintMessage(typeof message.body === 'string' ? message.body : '');
      if (hint.ok) return [{ message, target: hint.value }];
      log.error('a queue message is no hint', { message_id: message.id, problem: hint.error });
      if (isLast) message.ack();
      else message.retry({ delaySeconds: 0 });
      return [];
    });
    const targets = hints.map(({ target }) => target);
    const outcomes = await runHints(engine, targets, remainingTimeMs);
    // Without a wake for what was left behind, the messages come again in its place.
    const isLeft = isGuarded || (await guard.keep()) ? 'done' : 'retry';
    for (const [index, { message }] of hints.entries()) {
      const outcome = outcomes[index] === 'done' ? isLeft : (outcomes[index] ?? 'retry');
      if (isLast) tellDead(log, message, outcome);
      settle(message, outcome, isLast ? AGAIN_MAX_SECS : againSecs(message));
    }
  };
}

function tellDead(log: Log, { id }: QueueMessage, outcome: HintOutcome): void {
  log.error('a message came to the dead-letter queue', { message_id: id, outcome });
}

function againSecs({ attempts }: QueueMessage): number {
  return Math.min(AGAIN_MAX_SECS, AGAIN_SECS * 2 ** (attempts - 1));
}

function settle(message: QueueMessage, outcome: HintOutcome, delaySeconds: number): void {
  switch (outcome) {
    case 'done':
      message.ack();
      return;
    case 'retry':
      message.retry({ delaySeconds });
      return;
    case 'unstarted':
      message.retry({ delaySeconds: 0 });
  }
}
