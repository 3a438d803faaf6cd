import type { Block, ForEachBlock } from './document.ts';
import { shorten } from './path.ts';
import type { BlockVisit } from './walk.ts';
import type { Warn } from './warning.ts';

/** Names that templates read as roots, so an item under such a name cannot be one (2.4). */
const TEMPLATE_ROOTS = new Set([
  'context',
  'data',
  'config',
  'outputs',
  'steps',
  'input',
  'instance_id',
  'runtime',
  'state',
]);

const ROOT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What looks wrong in a block that is not a step. */
export function warnAboutComposite(
  block: Exclude<Block, { type: 'step' }>,
  visit: BlockVisit,
  warn: Warn,
): void {
  switch (block.type) {
    case 'parallel':
      return warnEmpty(block.branches, 'empty_branch', 'branch', 'branches', warn);
    case 'race':
      if (block.branches.length < 2)
        warn('single_branch_race', 'a race with one branch has no rival', ['branches']);
      return;
    case 'router':
      return warnEmpty(
        block.routes.map((route) => route.blocks),
        'empty_route',
        'route',
        'routes',
        warn,
      );
    case 'try_catch':
      if (block.catch_block.length === 0) {
        warn('empty_catch', 'an empty catch_block swallows every failure', ['catch_block']);
      }
      return;
    case 'a_b_split':
      for (const [index, { name, weight }] of block.variants.entries()) {
        if (weight === 0) {
          warn('zero_weight', `variant '${shorten(name)}' is never chosen`, ['variants', index, 'weight']);
        }
      }
      return;
    case 'saga':
      if (block.steps.length === 0) warn('empty_saga', 'the saga has no steps', ['steps']);
      return;
    case 'for_each':
      return warnItemVar(block, visit, warn);
    case 'loop':
    case 'sub_sequence':
    case 'cancellation_scope':
      return;
  }
}

function warnEmpty(
  lists: readonly (readonly Block[])[],
  code: 'empty_branch' | 'empty_route',
  noun: string,
  member: string,
  warn: Warn,
): void {
  for (const [index, blocks] of lists.entries()) {
    if (blocks.length === 0) warn(code, `${noun} ${index} is empty`, [member, index]);
  }
}

function warnItemVar(block: ForEachBlock, visit: BlockVisit, warn: Warn): void {
  const name = block.item_var;
  if (!ROOT_NAME.test(name) || TEMPLATE_ROOTS.has(name)) {
    warn('item_var_name', `item_var '${shorten(name)}' can be read as data.<name> only, it is no root`, [
      'item_var',
    ]);
  }
  for (let outer = visit.parent; outer !== null; outer = outer.parent) {
    if (outer.block.type === 'for_each' && outer.block.item_var === name) {
      warn(
        'item_var_shadowed',
        `hides the item of '${shorten(outer.block.id)}', which has the same item_var`,
        ['item_var'],
      );
      return;
    }
  }
}
