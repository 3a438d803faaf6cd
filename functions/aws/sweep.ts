import { runSweep } from '../../src/engine/invocation.ts';
import type { AwsHost } from './compose.ts';
import type { Remaining } from './records.ts';

/** The clock's tick: everything that time drives, and what the queue lost. The event says nothing. */
export function createSweepHandler(host: AwsHost): (event: unknown, context: Remaining) => Promise<void> {
  return async (_event, context) => {
    const { engine, log } = await host();
    const swept = await runSweep(engine, () => context.getRemainingTimeInMillis());
    log.info('swept', { ...swept });
  };
}

export { createAwsHost } from './compose.ts';
