import type { Frame } from '../../core/run/frame.ts';
import type { GateItem, InstanceView } from '../../ports/store/reads.ts';
import { answersOf } from './answer-rows.ts';
import type { SqlRows } from './driver.ts';
import { type FrameAnswer, type StoredFrame, answerOf, readFrame, readFrames } from './rows.ts';

/** Frames of many instances, as the statements of this adapter answer them. */
export interface StandingAnswer {
  readonly id: string;
  readonly root: StoredFrame | null;
  readonly frames: readonly FrameAnswer[] | null;
}

export function readStanding({ id, root, frames }: StandingAnswer): readonly [string, readonly Frame[]] {
  return [id, readFrames(root, frames)];
}

interface GateAnswer {
  readonly instance: InstanceView;
  readonly sequenceName: string;
  readonly frame: FrameAnswer;
}

/** Each row has the number of all gates, and a gate; the only row of an empty page has none. */
export function readGates(rows: SqlRows): { readonly items: readonly GateItem[]; readonly total: number } {
  const items = answersOf<GateAnswer>(rows.map(([, gate]) => [gate]));
  return {
    items: items.map((item) => ({ ...item, frame: readFrame(item.frame) })),
    total: answerOf<number>(rows),
  };
}
