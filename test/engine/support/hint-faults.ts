import type { Hint, Hints } from '../../../src/ports/hints.ts';
import type { TestEngine } from './test-engine.ts';

/** What becomes of a hint: after how many milliseconds it arrives, once for each number; none: it is lost. */
export type HintFate = (hint: Hint, nth: number) => readonly number[];

/** A queue outside the processes: each delivery goes to whichever process is there. */
export function queuedHints(world: TestEngine, fate: HintFate): Hints {
  let sent = 0;
  const deliver = ({ tenantId, instanceId }: Hint, nth: number): void => {
    const alive = world.processes.filter(({ gate }) => gate.isAlive && !gate.isFrozen);
    const process = alive[nth % Math.max(1, alive.length)];
    process?.engine.runner.nudge({ tenantId, instanceId }).catch(() => undefined);
  };
  return {
    send: (hints) => {
      for (const hint of hints) {
        const nth = sent;
        sent += 1;
        for (const delayMs of fate(hint, nth)) {
          world.time.at(world.time.now + hint.delayMs + delayMs, () => deliver(hint, nth));
        }
      }
    },
  };
}

export const hintFates: Readonly<Record<'dropped' | 'repeated' | 'delayed' | 'reordered', HintFate>> = {
  dropped: () => [],
  /** One to five times, at once and later. */
  repeated: (_, nth) => Array.from({ length: 1 + (nth % 5) }, (_item, copy) => copy * 37),
  delayed: (_, nth) => [((nth * 7919) % 15) * 60_000],
  /** What is sent later arrives earlier. */
  reordered: (_, nth) => [Math.max(0, 500 - (nth % 10) * 50)],
};
