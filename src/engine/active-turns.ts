import type { Claim } from '../ports/store/turn.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { TurnEnd } from './turn-end.ts';
import { Turn } from './turn.ts';

/** The turns that run in this process, at most one for each instance. */
export interface ActiveTurns {
  readonly byInstance: ReadonlyMap<string, Turn>;
  /** True from the first call of `drain` on. */
  readonly draining: boolean;
  /** Runs a claim in the background. `now` is the database's time of the claim. */
  begin(claim: Claim, now: number): Turn;
  /** As `begin`; resolves with how the turn ended. */
  run(claim: Claim, now: number): Promise<TurnEnd>;
  /** Calls back after every turn with how it ended. */
  onEnd(listener: (claim: Claim, end: TurnEnd) => void): void;
  /** Stops all turns, and those that are begun later, after what they are at; resolves when the last one has ended. */
  drain(): Promise<void>;
}

export function createActiveTurns(deps: TurnDeps): ActiveTurns {
  const turns = new Map<string, Turn>();
  const listeners: ((claim: Claim, end: TurnEnd) => void)[] = [];
  let draining = false;
  let idle: (() => void)[] = [];

  const end = (turn: Turn, claim: Claim, how: TurnEnd): void => {
    if (turns.get(claim.instanceId) === turn) turns.delete(claim.instanceId);
    for (const listener of listeners) listener(claim, how);
    if (turns.size > 0) return;
    const waiting = idle;
    idle = [];
    for (const resolve of waiting) resolve();
  };

  const start = (claim: Claim, now: number): { readonly turn: Turn; readonly ended: Promise<TurnEnd> } => {
    // A turn of this process that still believes in an older lease has lost it.
    turns.get(claim.instanceId)?.abandon();
    const turn = new Turn(deps, claim, now);
    turns.set(claim.instanceId, turn);
    if (draining) turn.stop();
    const { clock, counters, company, limits } = deps;
    const leave = company.join(claim, turn.lease, limits.remainingTimeMs !== null);
    const beganAtMs = clock.monotonicMs();
    counters.add('orch8_instances_claimed_total');
    if (claim.takenOver) counters.add('orch8_recovery_stale_instances_total');
    const ended = turn.run().then((how) => {
      counters.took('orch8_instance_processing_seconds', clock.monotonicMs() - beganAtMs);
      leave();
      end(turn, claim, how);
      return how;
    });
    return { turn, ended };
  };

  return {
    byInstance: turns,
    get draining() {
      return draining;
    },
    begin: (claim, now) => start(claim, now).turn,
    run: (claim, now) => start(claim, now).ended,
    onEnd(listener) {
      listeners.push(listener);
    },
    drain() {
      draining = true;
      for (const turn of turns.values()) turn.stop();
      return turns.size === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve));
    },
  };
}
