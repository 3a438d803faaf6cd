import type { Settle } from '../core/run/changes.ts';
import type { Draft } from '../core/run/draft.ts';
import { terminalState } from '../core/run/settle.ts';
import { type InstanceState, isTerminal } from '../core/run/states.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import { giveLeasesBack } from './turn-effects.ts';
import { untilAnswered } from './until-answered.ts';

export type TurnEnd =
  | {
      readonly kind: 'settled';
      readonly state: InstanceState;
      readonly dueAt: number | null;
      readonly now: number;
      /** A step waits for a process that has its handler (RULINGS B8). */
      readonly leftToOthers: boolean;
    }
  /** The lease is somebody else's, who says what comes next. */
  | { readonly kind: 'lost' }
  /** It was not begun and its lease was given back: it, or a turn that runs here, has to be alone in the process. */
  | { readonly kind: 'crowded' }
  /** The turn broke off; its lease runs out. `unavailable`: for want of the database, and not for a defect. */
  | { readonly kind: 'broken'; readonly unavailable: boolean };

/**
 * Ends a turn that has not changed anything and may not call what is runnable: it only looked for facts, or the process
 * is stopping. Such a claim is no hop of the run (RULINGS B7) unless `isHop` says so, and a take-over counts on.
 */
export async function giveBack(
  deps: TurnDeps,
  lease: Lease,
  now: number,
  { state = 'scheduled', isHop }: { readonly state?: InstanceState; readonly isHop?: true } = {},
): Promise<TurnEnd> {
  const ref = isHop === undefined ? lease.ref : { ...lease.ref, isHop };
  const release = () => giveLeasesBack(deps, [ref]);
  await untilAnswered(deps.clock, release, () => lease.leftMs() > 0);
  return { kind: 'settled', state, dueAt: now, now, leftToOthers: false };
}

/** How a turn ended that threw. */
export function brokenOff(deps: TurnDeps, instanceId: string, error: unknown): TurnEnd {
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  deps.log.error('a turn broke off', { instance_id: instanceId, error: told });
  return { kind: 'broken', unavailable: error instanceof StoreUnavailable };
}

/** How a turn ended that has settled. A fact that its last commit had not seen makes the instance due at once. */
export function settledEnd(
  deps: TurnDeps,
  draft: Draft,
  settled: Settle,
  { now, wasWoken }: { readonly now: number; readonly wasWoken: boolean },
): TurnEnd {
  if (settled.failure !== null) tellFailure(deps, draft.record.id, settled.failure);
  const dueAt = wasWoken && !isTerminal(settled.state) ? now : settled.dueAt;
  const leftToOthers = [...draft.frames.values()].some(({ leaf }) => leaf?.reason === 'handler');
  return { kind: 'settled', state: settled.state, dueAt, now, leftToOthers };
}

/** True when it is not worth to end the turn before the next thing falls due (RULINGS B6). */
export function waitsInPlace(deps: TurnDeps, draft: Draft, wake: number | null): boolean {
  if (wake === null || terminalState(draft) !== null || draft.state === 'paused') return false;
  return draft.env.now < wake && wake - draft.env.now <= deps.limits.inPlaceWaitMs;
}

/** The message may hold data of the user and stays in the database; block and code say where to look. */
function tellFailure(
  deps: TurnDeps,
  instanceId: string,
  { blockId, error }: NonNullable<Settle['failure']>,
): void {
  const code = typeof error['code'] === 'string' ? error['code'] : null;
  deps.log.warn('an instance failed', { instance_id: instanceId, block_id: blockId, code });
}
