import type { Json } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { frameKey } from '../frame.ts';
import { checkResult } from '../leaf/attempt.ts';
import { completeLeaf } from '../leaf/end-leaf.ts';
import { freshLeaf } from '../leaf/fresh-leaf.ts';
import { mergeWorkerOutput } from '../leaf/merge-data.ts';
import { placeOf } from '../place.ts';
import { type Refused, refused } from './refused.ts';
import { type Target, levelOf } from './target.ts';

/**
 * What a person changes of the leaf that the run goes back to. `input`: it runs with these params in this run, whatever
 * its templates say. `output`: it does not run, and counts as completed with this value.
 */
export type Edit =
  | { readonly kind: 'input'; readonly value: Json }
  | { readonly kind: 'output'; readonly value: Json };

/** Why the edit does not fit the block; null when it does. */
export function checkEdit(draft: Draft, target: Target, edit: Edit): Refused | null {
  const { block } = levelOf(target);
  if (block.type !== 'step' && block.type !== 'sub_sequence') {
    return refused(
      'not_a_leaf',
      `${block.id} is a ${block.type}: only a step or a sub_sequence has an ${edit.kind}`,
    );
  }
  if (edit.kind === 'input' || block.type !== 'step') return null;
  const failure = checkResult(draft, block, edit.value);
  return failure === null ? null : refused('invalid_output', failure.message);
}

/** Carries the edit out where the run now stands. Answers why it cannot be, or null. */
export function applyEdit(draft: Draft, target: Target, edit: Edit): Refused | null {
  const level = levelOf(target);
  const place = placeOf(draft, listKey(target));
  const frame = draft.frames.get(place.key);
  if (frame === undefined) throw new Error(`the run does not stand at ${level.block.id}`);
  const leaf = freshLeaf(draft.env.now);
  if (edit.kind === 'input') {
    draft.put({ ...frame, leaf: { ...leaf, input: edit.value } });
    return null;
  }
  // A worker would have answered this, and its members would have been merged ([DISP-3]).
  const isWorkers = level.block.type === 'step' && draft.env.kindOf(level.block.handler) === 'worker';
  const failure = isWorkers ? mergeWorkerOutput(draft, edit.value) : null;
  if (failure !== null) return refused('too_large', failure.message);
  completeLeaf(draft, place, leaf, edit.value);
  return null;
}

/** The frame of the list in which the target stands. */
function listKey({ levels }: Target): string {
  const level = levels.at(-1);
  const outer = levels.at(-2);
  if (level === undefined || level.owner === null)
    return frameKey({ blockId: '', branch: null, iteration: '' });
  const isBranch = level.owner.type === 'parallel' || level.owner.type === 'race';
  const branch = isBranch ? level.listIndex : level.hasItemFrames ? level.pass : null;
  return frameKey({ blockId: level.owner.id, branch, iteration: outer?.iteration ?? '' });
}
