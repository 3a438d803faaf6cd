import type { Block } from '../../definition/document.ts';
import { type Result, err, ok } from '../../result.ts';
import { fansOut, isConcurrent } from '../blocks/items.ts';
import { type Plan, type PlanNode, passPath } from '../plan.ts';
import { type Refused, refused } from './refused.ts';

/** One list on the way to a block, from the root list inwards. */
export interface Level {
  /** The composite that owns the list; null for the root list. */
  readonly owner: Block | null;
  readonly listIndex: number;
  /** Path of the passes in which the blocks of the list stand. */
  readonly iteration: string;
  /** The pass of the owner, when that is a loop or for_each. */
  readonly pass: number | null;
  /** The items of the owner have frames of their own. */
  readonly hasItemFrames: boolean;
  /** They run at the same time, so none comes before another. */
  readonly isConcurrent: boolean;
  /** Index of the block in the list, as the document has it. */
  readonly index: number;
  readonly block: Block;
}

/** A block in one of its passes; the last level is the block itself. */
export interface Target {
  readonly levels: readonly Level[];
}

/** The last level of a target. */
export function levelOf({ levels }: Target): Level {
  const last = levels.at(-1);
  if (last === undefined) throw new Error('a target without a block');
  return last;
}

/** Which pass of a loop or for_each is meant when the caller does not say; null when none was begun. */
export type LastPass = (owner: Block, iteration: string) => number | null;

/**
 * Finds a block by its id and the path of its passes, `outer:2/inner:0`, which names each loop and for_each around the
 * block, from the outside in. null: the last pass that was begun, at each of them.
 */
export function findTarget(
  plan: Plan,
  blockId: string,
  iteration: string | null,
  lastPass: LastPass,
): Result<Target, Refused> {
  const node = plan.nodes.get(blockId);
  if (node === undefined) return err(refused('unknown_block', `there is no block ${blockId} in this run`));
  const levels: Level[] = [];
  let path = '';
  for (const at of wayTo(plan, node)) {
    const owner = at.parentId === null ? null : (plan.nodes.get(at.parentId)?.block ?? null);
    let pass: number | null = null;
    if (owner !== null && (owner.type === 'loop' || owner.type === 'for_each')) {
      pass = iteration === null ? lastPass(owner, path) : passIn(iteration, path, owner.id);
      if (pass === null) return err(noPass(blockId, owner.id, iteration));
      path = passPath(path, owner.id, pass);
    }
    const { listIndex, index, block } = at;
    const hasItemFrames = owner?.type === 'for_each' && fansOut(owner);
    const concurrent = owner?.type === 'for_each' && isConcurrent(owner);
    levels.push({
      owner,
      listIndex,
      iteration: path,
      pass,
      hasItemFrames,
      isConcurrent: concurrent,
      index,
      block,
    });
  }
  if (iteration !== null && iteration !== path) return err(badPath(blockId, path, iteration));
  return ok({ levels });
}

/** The blocks around one, outermost first, itself last. */
export function wayTo(plan: Plan, node: PlanNode): readonly PlanNode[] {
  const parent = node.parentId === null ? undefined : plan.nodes.get(node.parentId);
  return parent === undefined ? [node] : [...wayTo(plan, parent), node];
}

/** The number of a pass, read from where the path of the passes around it ends. Ids may hold any character. */
function passIn(iteration: string, outer: string, ownerId: string): number | null {
  const start = passPath(outer, ownerId, 0).slice(0, -1);
  if (!iteration.startsWith(start)) return null;
  const digits = /^(0|[1-9]\d{0,8})(?=\/|$)/.exec(iteration.slice(start.length))?.[0];
  return digits === undefined ? null : Number(digits);
}

function noPass(blockId: string, ownerId: string, iteration: string | null): Refused {
  return iteration === null
    ? refused('not_reached', `${blockId} has not been reached: no pass of ${ownerId} was begun`)
    : refused(
        'bad_iteration',
        `iteration ${iteration} names no pass of ${ownerId}, which is around ${blockId}`,
      );
}

function badPath(blockId: string, path: string, iteration: string): Refused {
  const wanted = path === '' ? 'no pass, since it stands in no loop' : `a path like ${path}`;
  return refused('bad_iteration', `iteration ${iteration} does not fit ${blockId}: it wants ${wanted}`);
}
