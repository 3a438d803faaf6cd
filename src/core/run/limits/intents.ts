import type { FrameWrite } from '../changes.ts';
import type { Draft } from '../draft.ts';
import { type Frame, type Leaf, frameKey } from '../frame.ts';
import { type Asking, takeAnswer } from './ask.ts';
import type { TakeAnswer } from './takes.ts';

/** A frame as it becomes when the next commit grants it; `asking` when limits have a say in that. */
interface Intent {
  readonly frame: Frame;
  readonly asking: Asking | null;
}

/** What is to begin with the next commit (RULINGS A9), and what of it depends on limits (RULINGS A32). */
export class Intents {
  private open = new Map<string, Intent>();
  /** Frames of the last commit that asked limits, in the order of their answers. */
  private asked: string[] = [];
  /** Frames that limits denied in the last commit: their leaves are not called. */
  denied: ReadonlySet<string> = new Set();

  add(frame: Frame, leaf: Leaf, asking: Asking | null): void {
    this.open.set(frameKey(frame), { frame: { ...frame, leaf }, asking });
  }

  delete(key: string): void {
    this.open.delete(key);
  }

  clear(): void {
    this.open.clear();
  }

  has(key: string): boolean {
    return this.open.has(key);
  }

  /** True for an intent that no limit has a say in. */
  isCertain(key: string): boolean {
    return this.open.get(key)?.asking === null;
  }

  keys(): Iterable<string> {
    return this.open.keys();
  }

  annotate(key: string, note: Pick<Frame, 'traced' | 'alerted'>): void {
    const intent = this.open.get(key);
    if (intent !== undefined) this.open.set(key, { ...intent, frame: { ...intent.frame, ...note } });
  }

  /** True when leaves ask limits: only a commit can answer them. */
  get asks(): boolean {
    for (const { asking } of this.open.values()) if (asking !== null) return true;
    return false;
  }

  /** The frames of a commit; those that ask are remembered in the order of the answers to come. */
  write(frames: readonly Frame[]): readonly FrameWrite[] {
    this.asked = [];
    return frames.map((frame) => {
      const key = frameKey(frame);
      const intent = this.open.get(key);
      const write = { frame, intent: intent?.frame ?? null };
      if (intent === undefined || intent.asking === null) return write;
      this.asked.push(key);
      return { ...write, takes: intent.asking.takes };
    });
  }

  /** The commit has stored the intents, except those that a limit denied: they wait now. */
  grant(draft: Draft, answers: readonly TakeAnswer[]): void {
    const granted = [...this.open];
    this.open = new Map();
    const denied = new Set<string>();
    for (const [key, { frame, asking }] of granted) {
      const answer = asking === null ? undefined : answers[this.asked.indexOf(key)];
      if (asking === null || answer?.granted === true) draft.frames.set(key, frame);
      else denied.add(key);
      if (asking !== null && answer !== undefined) takeAnswer(draft, key, asking, answer);
    }
    this.denied = denied;
  }
}
