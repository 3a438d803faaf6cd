import { isTerminal, type InstanceState } from '../../../src/core/run/states.ts';
import type { InstanceTarget, Operation, OperationAnswer, TurnRunner } from '../../../src/engine/runner.ts';
import type { Hint, Hints } from '../../../src/ports/hints.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { Claim } from '../../../src/ports/store/turn.ts';
import { nextId } from '../../support/turn-builder.ts';

/** A runner that runs nothing: it notes what it was asked, and answers commands from the state alone. */
export interface StillRunner extends TurnRunner {
  readonly nudged: InstanceTarget[];
  readonly adopted: Claim[];
  readonly hints: Hints;
  readonly hinted: Hint[];
  room: boolean;
  /** When set, commands are answered with it. */
  answer: OperationAnswer | null;
}

/** [INS-10] as far as a person may go. */
const BY_HAND: Readonly<Record<InstanceState, readonly InstanceState[]>> = {
  scheduled: ['paused', 'cancelled'],
  running: ['scheduled', 'waiting', 'paused', 'cancelled'],
  waiting: ['scheduled', 'cancelled'],
  paused: ['scheduled', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export function createStillRunner(store: Store): StillRunner {
  const runner: StillRunner = {
    nudged: [],
    adopted: [],
    hinted: [],
    hints: { send: (hints) => void runner.hinted.push(...hints) },
    room: false,
    answer: null,
    hasRoom: () => runner.room,
    newLease: () => ({ leaseToken: nextId(), leaseOwner: 'still', leaseMs: 60_000 }),
    adopt: (claim) => {
      runner.adopted.push(claim);
    },
    nudge: (target) => {
      runner.nudged.push(target);
      return Promise.resolve();
    },
    resume: async ({ tenantId, instanceId }) => ({
      status: (await store.getInstance(tenantId, instanceId)) === null ? 'not_found' : 'busy',
    }),
    operate: async ({ tenantId, instanceId }, operation) => {
      const instance = await store.getInstance(tenantId, instanceId);
      if (instance === null) return { status: 'not_found' };
      if (runner.answer !== null) return runner.answer;
      const wanted = wantedState(operation, instance.state);
      return wanted === null
        ? { status: 'illegal', from: instance.state }
        : { status: 'done', state: wanted };
    },
  };
  return runner;
}

function wantedState(operation: Operation, from: InstanceState): InstanceState | null {
  if (operation.kind === 'retry') return from === 'failed' ? 'scheduled' : null;
  if (operation.kind === 'reschedule') return from === 'scheduled' ? from : null;
  if (isTerminal(from)) return null;
  return BY_HAND[from].includes(operation.state) ? operation.state : null;
}
