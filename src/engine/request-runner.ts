import { type FunctionEngine, leaseMsOf } from './function-engine.ts';
import type { Invocation } from './open-invocation.ts';
import type { TurnRunner } from './runner.ts';

/** The turns of API requests on a function host. */
export interface RequestRunner extends TurnRunner {
  /** Resolves when nothing runs any more and all hints are on their way: then the host may freeze the process. */
  settled(): Promise<void>;
}

/**
 * A request takes no lease with a start (RULINGS A37) and calls no handler: the host stops the process after the answer.
 * Its turns take facts in, so that they take effect at once (RULINGS A6), and hand on what has become runnable. What runs
 * turns is loaded with the first of them: most requests start something or read.
 */
export function createRequestRunner(engine: FunctionEngine): RequestRunner {
  let opened: Promise<Invocation> | null = null;
  const open = async (): Promise<Invocation> => {
    const { openInvocation } = await import('./open-invocation.ts');
    return openInvocation(engine, () => 0);
  };
  const runner = async (): Promise<TurnRunner> => {
    opened ??= open();
    return (await opened).runner;
  };
  return {
    hasRoom: () => false,
    newLease: () => ({
      leaseToken: engine.deps.ids.newId(),
      leaseOwner: engine.settings.leaseOwner,
      leaseMs: leaseMsOf(engine.settings, 0),
    }),
    // Nothing is handed over without a lease, and there is no room for one.
    adopt: () => undefined,
    nudge: async (target, withinMs) => (await runner()).nudge(target, withinMs),
    operate: async (target, operation) => (await runner()).operate(target, operation),
    resume: async (target, order) => (await runner()).resume(target, order),
    async settled() {
      const invocation = await opened;
      // A claim that is answered after its request has to be run or given back, or its lease would hold the instance up.
      await invocation?.runner.looked();
      await invocation?.idle();
      await engine.queue.settled();
    },
  };
}
