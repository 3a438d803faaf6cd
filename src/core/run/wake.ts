import type { InboxDone } from './changes.ts';
import type { Draft } from './draft.ts';
import type { Frame, Leaf, WaitReason } from './frame.ts';
import { type Plan, currentList, innerIteration } from './plan.ts';
import type { LimitRef, TimerRef, Wake } from './record.ts';
import type { InstanceState } from './states.ts';

/** Waits that the engine ends by itself; what a person, a worker, an event or a deadline would end is none of them. */
const TIMERS = ['delay', 'send_window', 'retry', 'sleep'] as const;
type TimerReason = (typeof TIMERS)[number];

/** A timer of a run that a person may end. `start`: the run has not begun. `poll`: a loop between two passes. */
export type Timer =
  | (TimerRef & { readonly reason: TimerReason | 'poll' })
  | { readonly reason: 'start'; readonly wakeAt: number };

export interface TimedRun {
  readonly state: InstanceState;
  readonly startedAt: number | null;
  readonly nextFireAt: number | null;
  readonly waitsForSlot?: boolean;
}

/** The timers that a run stands at, those of one block when it is named. */
export function timersOf(
  run: TimedRun,
  { frames, plan, now }: { readonly frames: readonly Frame[]; readonly plan: Plan; readonly now: number },
  blockId: string | null,
): readonly Timer[] {
  const all = frames.flatMap((frame) => timerOf(plan, frame) ?? []).filter(({ wakeAt }) => wakeAt > now);
  const start = blockId === null && all.length === 0 ? startOf(run, now) : null;
  if (start !== null) return [start];
  return blockId === null ? all : all.filter((timer) => timer.blockId === blockId);
}

/** A run without a free slot looks again at some instant, which ends nothing ([CONC-2]). */
function startOf({ state, nextFireAt, waitsForSlot = false }: TimedRun, now: number): Timer | null {
  const isHeld = state === 'scheduled' && nextFireAt !== null && nextFireAt > now && !waitsForSlot;
  return isHeld ? { reason: 'start', wakeAt: nextFireAt } : null;
}

function timerOf(plan: Plan, frame: Frame): Exclude<Timer, { readonly reason: 'start' }> | null {
  if (frame.state !== 'open') return null;
  const { detail, leaf } = frame;
  if (detail.kind === 'loop' && detail.pollUntil !== null && !detail.inPass) {
    return { reason: 'poll', blockId: frame.blockId, iteration: frame.iteration, wakeAt: detail.pollUntil };
  }
  if (leaf === null || leaf.wakeAt === null || !isTimer(leaf.reason)) return null;
  const block = currentList(plan, frame)[frame.cursor];
  if (block === undefined) return null;
  return { reason: leaf.reason, blockId: block.id, iteration: innerIteration(frame), wakeAt: leaf.wakeAt };
}

function isTimer(reason: WaitReason | null): reason is TimerReason {
  return TIMERS.some((timer) => timer === reason);
}

/**
 * Timers end now, leaves that a limit has denied look again. Nothing moves here: the walk that follows finds them due. A
 * run whose claim has not made it running is left to the next claim.
 */
export function applyWake(draft: Draft, wake: Wake): InboxDone['disposition'] {
  const { now } = draft.env;
  let count = begins(draft, wake) ? 1 : 0;
  for (const frame of [...draft.frames.values()]) {
    const woken = isMeant(draft, frame, wake) ? awake(frame, now) : null;
    if (woken === null) continue;
    draft.replant(woken);
    count += 1;
  }
  if (count > 0 && wake.limit === null) {
    draft.note('wake', { timers: wake.ends.map((timer) => ({ ...timer })), start_at: wake.startAt });
  }
  if (count > 0 && draft.state === 'scheduled') {
    draft.waitsForClaim = true;
    draft.instance.startAt(now);
  }
  return count > 0 ? 'applied' : 'no_effect';
}

/** The claim that the wake has caused has begun the run already, unless another one was under way. */
function begins({ state, record }: Draft, { startAt }: Wake): boolean {
  return (
    startAt !== null && (state === 'running' || (state === 'scheduled' && record.nextFireAt === startAt))
  );
}

function isMeant(draft: Draft, frame: Frame, { ends, limit }: Wake): boolean {
  if (frame.state !== 'open') return false;
  if (limit !== null && isDenied(draft, frame, limit)) return true;
  const timer = ends.length === 0 ? null : timerOf(draft.plan, frame);
  return ends.some(
    ({ blockId, iteration, wakeAt }) =>
      timer?.blockId === blockId && timer.iteration === iteration && timer.wakeAt === wakeAt,
  );
}

/** Who may run a fallback waits for both breakers, and names only the one of the handler. */
function isDenied(draft: Draft, frame: Frame, { reason, name }: LimitRef): boolean {
  if (frame.leaf?.reason !== reason) return false;
  if (frame.leaf.limit === name) return true;
  const block = currentList(draft.plan, frame)[frame.cursor];
  return reason === 'breaker' && block?.type === 'step' && block.fallback_handler === name;
}

function awake(frame: Frame, now: number): Frame | null {
  const { detail, leaf } = frame;
  if (detail.kind === 'loop' && detail.pollUntil !== null && !detail.inPass) {
    return { ...frame, detail: { ...detail, pollUntil: now } };
  }
  return leaf === null ? null : { ...frame, leaf: awakeLeaf(leaf, now) };
}

function awakeLeaf(leaf: Leaf, now: number): Leaf {
  const woken = { ...leaf, wakeAt: now };
  return leaf.reason === 'send_window' ? { ...woken, offWindow: true } : woken;
}
