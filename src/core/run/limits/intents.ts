import type { FrameWrite } from '../changes.ts';
import { type Frame, type FrameNote, type Leaf, frameKey } from '../frame.ts';
import type { TakeAnswer, Takes } from './takes.ts';

/** An intent that depends on limits: the leaf as it is when they deny it, and what it asks for. */
export interface Asking {
  readonly before: Leaf;
  readonly takes: Takes;
}

/** A frame as it becomes when the next commit grants it; `asking` when limits have a say in that. */
interface Intent {
  readonly frame: Frame;
  readonly asking: Asking | null;
}

/** An intent that was not stored because a limit denied it. */
export interface Denied {
  readonly key: string;
  readonly asking: Asking;
  readonly answer: Extract<TakeAnswer, { readonly granted: false }>;
}

/** What is to begin with the next commit (RULINGS A9), and what of it depends on limits (RULINGS A32). */
export class Intents {
  private readonly open = new Map<string, Intent>();
  /** Frames of the last commit that asked limits, in the order of their answers. */
  private asked: string[] = [];
  /** What limits denied in the last commit: these leaves are not called. */
  denied: readonly Denied[] = [];

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

  annotate(key: string, note: FrameNote): void {
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
    if (this.asked.length > 0) this.asked = [];
    return frames.map((frame) => {
      const key = frameKey(frame);
      const intent = this.open.get(key);
      const write = { frame, intent: intent?.frame ?? null };
      if (intent === undefined || intent.asking === null) return write;
      this.asked.push(key);
      const { takes, before } = intent.asking;
      return { ...write, takes, held: { ...frame, leaf: before } };
    });
  }

  /** The commit has stored the intents, with what limits gave, except those that they denied. */
  grant(frames: Map<string, Frame>, answers: readonly TakeAnswer[]): void {
    const denied: Denied[] = [];
    for (const [key, { frame, asking }] of this.open) {
      if (asking === null) {
        frames.set(key, frame);
        continue;
      }
      const answer = answers[this.asked.indexOf(key)];
      if (answer?.granted === true) frames.set(key, withTaken(frame, answer));
      else denied.push({ key, asking, answer: answer ?? ASK_AGAIN });
    }
    this.open.clear();
    this.denied = denied;
  }
}

/** For an intent without an answer, which no store gives. */
const ASK_AGAIN: Denied['answer'] = { granted: false, reason: 'rate_limit', until: null };

function withTaken(frame: Frame, { taken }: Extract<TakeAnswer, { readonly granted: true }>): Frame {
  if (frame.leaf === null) return frame;
  return { ...frame, leaf: { ...frame.leaf, taken: { ...frame.leaf.taken, ...taken } } };
}
