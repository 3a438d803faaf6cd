import type { Block } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { type Frame, frameKey } from '../frame.ts';
import type { Plan } from '../plan.ts';
import { type Placed, type Status, type Statuses, placeIn, worked } from './list-status.ts';

/** The frames of a run on their way into another plan. `draft` still has the old one. */
export interface Mapping {
  readonly draft: Draft;
  readonly plan: Plan;
  readonly restarts: boolean;
  readonly same: ReadonlySet<string>;
  /** The frames in the new plan, by key. */
  readonly frames: Map<string, Frame>;
  /** Why the run cannot be moved, by block. */
  readonly refusals: Refusal[];
}

export interface Refusal {
  readonly blockId: string;
  readonly reason: string;
}

export function refuse(mapping: Mapping, blockId: string, reason: string): void {
  mapping.refusals.push({ blockId, reason });
}

/** Statuses of the blocks that the new plan has as well. */
export function keptOnly(mapping: Mapping, ...parts: readonly Statuses[]): Statuses {
  const kept = new Map<string, Status>();
  for (const part of parts) {
    for (const [id, status] of part) if (mapping.same.has(id)) kept.set(id, status);
  }
  return kept;
}

/** Works out where a list of the new plan stands; two blocks that are worked on cannot share one list. */
export function placeList(
  mapping: Mapping,
  ownerId: string,
  list: readonly Block[],
  statuses: Statuses,
): Placed {
  const [first, second] = worked(list, statuses);
  if (first !== undefined && second !== undefined) {
    refuse(mapping, ownerId, `${first} and ${second} are both being worked on and would stand in one list`);
  }
  return placeIn(list, statuses);
}

/** A frame with what was worked out for its list. */
export function framed(frame: Frame, placed: Placed): Frame {
  const { order: _order, traced: _traced, unknown: _unknown, ...rest } = frame;
  const { cursor, leaf, state, notes, order } = placed;
  return {
    ...rest,
    cursor,
    leaf,
    state,
    ...notes,
    ...(order === null || order === undefined ? {} : { order }),
  };
}

export function addFrame(mapping: Mapping, frame: Frame): void {
  mapping.frames.set(frameKey(frame), frame);
}
