import type { Draft } from './draft.ts';
import type { WaitReason } from './frame.ts';
import { earliestWake } from './settle.ts';
import type { Settle } from './changes.ts';

/** Timers that a person may move; deadlines and timeouts stay where they are. */
const MOVABLE: ReadonlySet<WaitReason> = new Set<WaitReason>(['delay', 'send_window', 'retry']);

/** Moves what a `scheduled` run waits for: its start, the delays and back-offs of its steps, the polls of its loops (12.5). */
export function shiftTimers(draft: Draft, offsetMs: number): void {
  if (draft.state !== 'scheduled') return;
  for (const frame of [...draft.frames.values()]) {
    if (frame.state !== 'open') continue;
    const { leaf, detail } = frame;
    if (leaf !== null && leaf.wakeAt !== null && leaf.reason !== null && MOVABLE.has(leaf.reason))
      draft.putLeaf(frame, { ...leaf, wakeAt: leaf.wakeAt + offsetMs });
    if (detail.kind === 'loop' && detail.pollUntil !== null)
      draft.put({ ...frame, detail: { ...detail, pollUntil: detail.pollUntil + offsetMs } });
  }
}

/** The settle of a moved run. What does not move, such as a deadline, and facts that came in are due in their own time. */
export function settleShifted(
  draft: Draft,
  offsetMs: number,
  { openWaits, hadFacts }: { readonly openWaits: number; readonly hadFacts: boolean },
): Settle {
  const { now } = draft.env;
  const nextFireAt = (draft.record.nextFireAt ?? now) + offsetMs;
  const dueAt = hadFacts ? now : Math.min(nextFireAt, earliestWake(draft) ?? nextFireAt);
  return { state: 'scheduled', nextFireAt, dueAt, openWaits, failure: null };
}
