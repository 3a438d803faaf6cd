import type { BlockVisit } from '../definition/walk.ts';

/** What is bound: the answer of a gate, which is a text ([HI-4]), or something that nobody knows. */
export type Binding = 'answer' | 'any';

/**
 * Names of `data` that the engine sets while a sequence runs, which its `input_schema` therefore does not describe: the
 * items of enclosing `for_each` blocks ([ITEM-1]), `_error` where a failure is handled ([CERR-2]), and the answers of
 * gates ([HI-4]).
 */
export function boundNames(visits: readonly BlockVisit[]): {
  readonly at: (visit: BlockVisit) => (name: string) => Binding | null;
} {
  const answers = new Set(
    visits.flatMap(({ block }) =>
      block.type === 'step' && block.wait_for_input !== undefined
        ? [block.wait_for_input.store_as ?? block.id]
        : [],
    ),
  );
  return {
    at: (visit) => (name) => {
      if (isBoundAt(visit, name)) return 'any';
      return answers.has(name) ? 'answer' : null;
    },
  };
}

function isBoundAt(visit: BlockVisit, name: string): boolean {
  for (let at: BlockVisit = visit; at.parent !== null; at = at.parent) {
    const { block } = at.parent;
    if (block.type === 'for_each' && block.item_var === name) return true;
    if (name === '_error' && handlesFailure(block.type, at.branchIndex ?? 0)) return true;
  }
  return false;
}

/** Lists 1 and 2 of a `try_catch` are its catch and finally lists; the odd ones of a saga are compensations. */
function handlesFailure(type: BlockVisit['block']['type'], list: number): boolean {
  return (type === 'try_catch' && list > 0) || (type === 'saga' && list % 2 === 1);
}
