import type { Draft } from '../core/run/draft.ts';
import { type Frame, frameKey } from '../core/run/frame.ts';
import { currentList, innerIteration } from '../core/run/plan.ts';
import { CallAbort } from './call-abort.ts';
import { callNotice } from './call-notice.ts';
import type { TurnDeps } from './turn-deps.ts';

/**
 * Notifications of gates that have opened ([HR-2]). The gate keeps what is to be sent until it has been sent, so a crash
 * sends it again and nothing loses it; the turn does not end before.
 */
export class TurnNotices {
  private readonly deps: TurnDeps;
  private readonly onFinished: () => void;
  private readonly running = new Map<string, CallAbort>();
  private readonly sent = new Set<string>();

  constructor(deps: TurnDeps, onFinished: () => void) {
    this.deps = deps;
    this.onFinished = onFinished;
  }

  get size(): number {
    return this.running.size;
  }

  /** True when some are not under way yet. */
  areDue(draft: Draft): boolean {
    for (const frame of draft.frames.values()) if (this.isDue(frame)) return true;
    return false;
  }

  private isDue(frame: Frame): boolean {
    const key = noticeKey(frame);
    return key !== null && !this.running.has(key) && !this.sent.has(key);
  }

  /** `boundMs`: what is left of the lease or the invocation. What opened the gates is stored. */
  start(draft: Draft, boundMs: number): void {
    for (const frame of draft.frames.values()) {
      if (!this.isDue(frame)) continue;
      const { leaf } = frame;
      const key = noticeKey(frame);
      const block = currentList(draft.plan, frame)[frame.cursor];
      const params = leaf?.gate?.notify;
      if (key === null || leaf === null || params === undefined || block?.type !== 'step') continue;
      const controller = new CallAbort();
      this.running.set(key, controller);
      const at = { blockId: block.id, iteration: innerIteration(frame), leaf, controller };
      void callNotice(this.deps, draft, { ...at, handler: block.handler, params, boundMs }).then(() => {
        this.running.delete(key);
        this.sent.add(key);
        this.onFinished();
      });
    }
  }

  /** Whether it got through or not, it is not sent again. */
  takeFinished(draft: Draft): void {
    if (this.sent.size === 0) return;
    for (const frame of draft.frames.values()) {
      const { leaf } = frame;
      const key = noticeKey(frame);
      if (leaf?.gate === null || leaf === null || key === null || !this.sent.has(key)) continue;
      const { notify: _, ...gate } = leaf.gate;
      draft.putLeaf(frame, { ...leaf, gate });
    }
  }

  abortAll(): void {
    for (const controller of this.running.values()) controller.abort();
  }
}

/** One gate of one pass; null when it has nothing to send. */
function noticeKey(frame: Frame): string | null {
  const gate = frame.leaf?.gate;
  if (frame.state !== 'open' || gate?.notify === undefined) return null;
  return `${frameKey(frame)}\u0000${frame.cursor}\u0000${gate.openedAt}`;
}
