import type { Block } from '../../definition/document.ts';
import { type DocumentError, parseSequence } from '../../definition/parse-sequence.ts';
import { serialiseSequence } from '../../definition/serialise.ts';
import { walkBlocks } from '../../definition/walk.ts';
import { type Result, ok } from '../../result.ts';
import type { Plan } from '../plan.ts';
import { carriedOver, effectivePlan } from './injection.ts';

/** Injected root blocks that cannot be carried over as they are: the target has blocks of its own with their ids. */
export function replacedBy(plan: Plan, target: Plan): readonly string[] {
  const taken = new Set(idsOf(target.document.blocks));
  const injected = (plan.shape?.injections ?? []).flatMap(({ blocks }) => blocks);
  return injected.filter((block) => idsOf([block]).some((id) => taken.has(id))).map(({ id }) => id);
}

/** Ids of the main tree, those of saga steps included ([LIM-4]). */
function idsOf(blocks: readonly Block[]): readonly string[] {
  return [...walkBlocks(blocks)].flatMap(({ block }) =>
    block.type === 'saga' ? [block.id, ...block.steps.map(({ id }) => id)] : [block.id],
  );
}

/** The plan of a run once it has come to another sequence, its injected blocks carried along. */
export function planAfter(plan: Plan, target: Plan): Result<Plan, DocumentError> {
  const injections = carriedOver(plan.shape?.injections ?? [], replacedBy(plan, target));
  const after = effectivePlan(target, { injections, wasMigrated: true });
  if (injections.length === 0) return ok(after);
  const checked = parseSequence(serialiseSequence(after.document));
  return checked.ok ? ok(after) : checked;
}
