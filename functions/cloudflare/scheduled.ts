import { runWake } from '../../src/engine/deployment-wakes.ts';
import { unremembered } from '../../src/engine/failed-wakes.ts';
import { runSweep } from '../../src/engine/invocation.ts';
import type { Invocation } from './compose.ts';
import type { WorkerEnv } from './platform.ts';
import { publishOnce } from './publish.ts';

/** What it needs of an invocation. */
type OpenSweep = (env: WorkerEnv) => Pick<Invocation, 'engine' | 'publishing' | 'waker' | 'remainingTimeMs'>;

/**
 * The cron trigger: everything that time drives, and what the queue lost. With a waker it is the rare safety net, which also
 * brings a lost wake back, and keeps one itself only where it has found something to claim; without one it has to come each
 * minute. Rejects with what could not be done, after it has said what was.
 */
export function createScheduled(open: OpenSweep) {
  return async (_event: unknown, env: WorkerEnv): Promise<void> => {
    const invocation = open(env);
    const { engine, waker, remainingTimeMs } = invocation;
    await publishOnce(invocation, waker);
    const { result, problem } =
      waker === null
        ? await runSweep(engine, remainingTimeMs)
        : // What fails again in the next wake is remembered there.
          await runWake(engine, remainingTimeMs, { waker, failed: unremembered(waker), isRepeated: false });
    engine.deps.log.info('swept', { ...result });
    if (problem !== null) throw problem;
  };
}
