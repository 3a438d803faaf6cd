import type { Block } from '../definition/document.ts';
import { type Json, isJsonArray, member } from '../json.ts';
import { fansOut } from './blocks/items.ts';
import type { Frame } from './frame.ts';
import type { NodeRow } from './output-row.ts';
import { currentListIndex, innerIteration, passPath } from './plan.ts';
import { type InnerList, type Rest, restOfEnd, restOfList } from './rest-of-list.ts';
import type { NodeState } from './states.ts';
import { askedIndex } from './tree-items.ts';

/** A list of a composite that has a frame. `branch` is the frame of this list in a parallel or race. */
export function openList(own: Frame, branch: Frame | undefined, index: number): InnerList {
  const iteration = shownIteration(own);
  if (own.detail.kind === 'parallel' || own.detail.kind === 'race') {
    return {
      frame: branch ?? null,
      iteration,
      rest: branch === undefined ? restOfList(own, index) : restOfList(branch, 0),
    };
  }
  const worked = currentListIndex(own) === index && !isBetweenPasses(own);
  return { frame: worked ? own : null, iteration, rest: restOfList(own, index) };
}

/** A list of a composite that is over, or that was never entered. */
export function closedList(
  block: Block,
  of: {
    readonly row: NodeRow | undefined;
    readonly state: NodeState;
    readonly iteration: string;
    readonly pass: string | null;
  },
  index: number,
): InnerList {
  const passes = block.type === 'loop' || block.type === 'for_each';
  const isItem = block.type === 'for_each' && fansOut(block) && of.row !== undefined;
  const asked = isItem ? askedIndex(block.id, of.iteration, of.pass) : null;
  const iteration = passes ? passPath(of.iteration, block.id, asked ?? lastPassOf(of.row)) : of.iteration;
  return { frame: null, iteration, rest: storedRest(of.row, index) ?? restOfState(of.state) };
}

function restOfState(state: NodeState): Rest {
  switch (state) {
    case 'pending':
    case 'running':
    case 'waiting':
      return 'pending';
    case 'completed':
    case 'skipped':
      return 'skipped';
    case 'failed':
    case 'cancelled':
      return restOfEnd(state);
  }
}

function storedRest(row: NodeRow | undefined, index: number): Rest | null {
  const rests: Json | undefined = row === undefined ? undefined : member(row.node, 'rest');
  const rest = isJsonArray(rests) ? rests[index] : undefined;
  return rest === 'skipped' || rest === 'cancelled' ? rest : null;
}

function isBetweenPasses({ detail }: Frame): boolean {
  return (detail.kind === 'loop' || detail.kind === 'for_each') && !detail.inPass;
}

/** Path of the open pass, or of the last one between two passes. */
function shownIteration(own: Frame): string {
  const { detail } = own;
  if (detail.kind === 'loop' && !detail.inPass) return lastPath(own, detail.passes);
  if (detail.kind === 'for_each' && !detail.inPass) return lastPath(own, detail.index);
  return innerIteration(own);
}

function lastPath(own: Frame, passes: number): string {
  return passPath(own.iteration, own.blockId, Math.max(0, passes - 1));
}

function lastPassOf(row: NodeRow | undefined): number {
  const decision = row === undefined ? undefined : member(row.node, 'decision');
  const last = member(decision, 'last_pass');
  return typeof last === 'number' ? Math.max(0, last) : 0;
}
