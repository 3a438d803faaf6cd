import { choiceRow } from '../choice-row.ts';
import type { Draft } from '../draft.ts';
import type { Frame } from '../frame.ts';
import type { NewRow } from '../output-row.ts';
import type { Plan } from '../plan.ts';

/**
 * A choice is recorded by the index of its list (RULINGS B2). Where the list has another index now, the record is written
 * anew, so that the rows go on saying where the run stands.
 */
export function recordChoice(draft: Draft, plan: Plan, before: Frame | undefined, after: Frame): void {
  const { blockId, iteration } = after;
  const kind = after.detail.kind === 'router' ? 'node' : 'variant';
  const row = movedChoice(plan, before, after);
  if (row === null) return;
  draft.supersede({ blockIds: [blockId], kinds: [kind], iteration, keepLatest: false });
  draft.addRow(row);
}

function movedChoice(plan: Plan, before: Frame | undefined, after: Frame): Omit<NewRow, 'id'> | null {
  const { detail, blockId, iteration, startedAt } = after;
  if (detail.kind === 'router') {
    const isMoved = before?.detail.kind === 'router' && before.detail.route !== detail.route;
    return isMoved ? choiceRow(after) : null;
  }
  if (detail.kind !== 'a_b_split' || before?.detail.kind !== 'a_b_split') return null;
  const block = plan.nodes.get(blockId)?.block;
  if (block?.type !== 'a_b_split' || before.detail.variant === detail.variant) return null;
  const output = {
    variant: block.variants[detail.variant]?.name ?? '',
    variant_index: detail.variant,
  };
  return { blockId, iteration, kind: 'variant', attempt: 0, output, startedAt };
}
