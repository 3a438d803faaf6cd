import type { FunctionEngine } from './function-engine.ts';
import { openInvocation } from './invocation.ts';
import type { TurnRunner } from './runner.ts';

/** The turns of API requests on a function host. */
export interface RequestRunner extends TurnRunner {
  /** Resolves when nothing runs any more and all hints are on their way: then the host may freeze the process. */
  settled(): Promise<void>;
}

/**
 * A request takes no lease with a start (RULINGS A37) and calls no handler: the host stops the process after the answer.
 * Its turns take facts in, so that they take effect at once (RULINGS A6), and hand on what has become runnable.
 */
export function createRequestRunner(engine: FunctionEngine): RequestRunner {
  const invocation = openInvocation(engine, () => 0);
  const { runner } = invocation;
  return {
    hasRoom: () => false,
    newLease: () => runner.newLease(),
    adopt: (claim) => runner.adopt(claim),
    nudge: (target, withinMs) => runner.nudge(target, withinMs),
    operate: (target, operation) => runner.operate(target, operation),
    resume: (target, order) => runner.resume(target, order),
    async settled() {
      await invocation.idle();
      await engine.queue.settled();
    },
  };
}
