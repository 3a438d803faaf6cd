import type { Frame } from '../../core/run/frame.ts';
import type { GateItem, InstanceView } from '../../ports/store/reads.ts';
import { type FrameAnswer, type StoredFrame, readFrame, readFrames } from './rows.ts';

/** Frames of many instances, as the statements of this adapter answer them. */
export interface StandingAnswer {
  readonly id: string;
  readonly root: StoredFrame | null;
  readonly frames: readonly FrameAnswer[] | null;
}

export function readStanding({ id, root, frames }: StandingAnswer): readonly [string, readonly Frame[]] {
  return [id, readFrames(root, frames)];
}

export interface GatesAnswer {
  readonly total: number;
  readonly items: readonly {
    readonly instance: InstanceView;
    readonly sequenceName: string;
    readonly frame: FrameAnswer;
  }[];
}

export function readGates(answer: GatesAnswer): {
  readonly items: readonly GateItem[];
  readonly total: number;
} {
  const items = answer.items.map((item) => ({ ...item, frame: readFrame(item.frame) }));
  return { items, total: answer.total };
}
