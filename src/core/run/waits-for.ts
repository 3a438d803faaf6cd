import type { Frame, WaitReason } from './frame.ts';
import { wakeOf } from './frame.ts';
import { type Plan, currentList } from './plan.ts';
import type { InstanceState } from './states.ts';

/** What a run waits for, in a word: the wait that says most. */
export interface WaitsFor {
  /** `start`: it has not begun. `concurrency`: no slot of its key is free. `poll`: a loop is between two passes. */
  readonly reason: WaitReason | 'poll' | 'start' | 'concurrency';
  /** null: the run as a whole, or the plan that names the block could not be read. */
  readonly blockId: string | null;
  /** When the engine looks again by itself; null: only something from outside moves it. */
  readonly wakeAt: number | null;
}

/** People first, then others outside, then limits, then timers. */
const RANKS: Readonly<Record<WaitReason | 'poll', number>> = {
  input: 0,
  worker: 1,
  child: 2,
  event: 3,
  rate_limit: 4,
  breaker: 4,
  pool: 4,
  handler: 5,
  retry: 6,
  send_window: 7,
  delay: 7,
  poll: 7,
  sleep: 7,
};

/** The wait of an open run; null when it has ended or is paused, or when it runs or is about to. */
export function waitsFor(
  run: {
    readonly state: InstanceState;
    readonly nextFireAt: number | null;
    readonly waitsForSlot?: boolean;
  },
  {
    frames,
    plan,
    now,
  }: { readonly frames: readonly Frame[]; readonly plan: Plan | null; readonly now: number },
): WaitsFor | null {
  const { state, nextFireAt } = run;
  if (state !== 'scheduled' && state !== 'waiting' && state !== 'running') return null;
  if (state === 'scheduled' && run.waitsForSlot === true) {
    return { reason: 'concurrency', blockId: null, wakeAt: nextFireAt };
  }
  const waits = frames.flatMap((frame) => waitOf(frame, plan) ?? []);
  const [first] = waits.toSorted((a, b) => RANKS[a.reason] - RANKS[b.reason] || at(a) - at(b));
  if (first !== undefined) return first;
  const isHeld = state === 'scheduled' && nextFireAt !== null && nextFireAt > now;
  return isHeld ? { reason: 'start', blockId: null, wakeAt: nextFireAt } : null;
}

function at({ wakeAt }: WaitsFor): number {
  return wakeAt ?? Number.POSITIVE_INFINITY;
}

type LeafWait = WaitsFor & { readonly reason: WaitReason | 'poll' };

function waitOf(frame: Frame, plan: Plan | null): LeafWait | null {
  if (frame.state !== 'open') return null;
  const { detail, leaf } = frame;
  if (detail.kind === 'loop' && detail.pollUntil !== null && !detail.inPass) {
    return { reason: 'poll', blockId: frame.blockId, wakeAt: detail.pollUntil };
  }
  if (leaf === null || leaf.reason === null || leaf.state === 'failed' || leaf.state === 'cancelled')
    return null;
  const block = plan === null ? undefined : currentList(plan, frame)[frame.cursor];
  return { reason: leaf.reason, blockId: block?.id ?? null, wakeAt: wakeOf(leaf) };
}
