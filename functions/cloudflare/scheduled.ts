import { runSweep } from '../../src/engine/invocation.ts';
import { runWake } from '../../src/engine/deployment-wakes.ts';
import type { OpenInvocation } from './compose.ts';
import type { WorkerEnv } from './platform.ts';
import { publishOnce } from './publish.ts';

/**
 * The cron trigger: everything that time drives, and what the queue lost. With a waker it is the rare safety net, which also
 * brings a lost wake back; without one it has to come each minute.
 */
export function createScheduled(open: OpenInvocation) {
  return async (_event: unknown, env: WorkerEnv): Promise<void> => {
    const invocation = open(env);
    const { engine, guard, waker, remainingTimeMs } = invocation;
    await guard.keep();
    await publishOnce(invocation, waker);
    const swept =
      waker === null
        ? await runSweep(engine, remainingTimeMs)
        : await runWake(engine, waker, remainingTimeMs);
    engine.deps.log.info('swept', { ...swept });
  };
}
