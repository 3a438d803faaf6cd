import { runSweep } from '../../src/engine/invocation.ts';
import type { AwsHost } from './compose.ts';
import { keepWake, type OwnAddress, wakerOf } from './economy.ts';
import type { Remaining } from './records.ts';

/**
 * The clock's tick: everything that time drives, and what the queue lost. The event says nothing. In economy mode it also
 * keeps the next wake. What it logs is watched: an alarm goes off when `oldest_due_ms` is large.
 */
export function createSweepHandler(
  host: AwsHost,
): (event: unknown, context: Remaining & OwnAddress) => Promise<void> {
  return async (_event, context) => {
    const parts = await host();
    const { engine, log } = parts;
    const remainingTimeMs = (): number => context.getRemainingTimeInMillis();
    await keepWake(parts, context);
    const waker = await wakerOf(parts, context);
    const swept = waker === null ? await runSweep(engine, remainingTimeMs) : await wake(parts, waker);
    log.info('swept', { ...swept, oldest_due_ms: await oldestDueMs(parts) });

    async function wake({ engine: woken }: typeof parts, by: NonNullable<typeof waker>) {
      const { runWake } = await import('../../src/engine/deployment-wakes.ts');
      return runWake(woken, by, remainingTimeMs);
    }
  };
}

export { createAwsHost } from './compose.ts';
