import type { ForEachBlock } from './document.ts';
import type { Warn } from './warning.ts';

/**
 * Members of a for_each that are checked and stored, and that this build does not act on: its items run one after the
 * other, a failed one fails the block, and nothing is collected (RULINGS B25). A publish says so, since a run would only
 * show it by what does not happen.
 */
const UNSUPPORTED = ['concurrency', 'on_item_failure', 'tolerate', 'collect'] as const;

/** Values that ask for no more than what happens without the member pass silently. */
export function warnUnsupported(block: ForEachBlock, warn: Warn): void {
  for (const name of UNSUPPORTED) {
    const value = block[name];
    const usual = value === undefined || value === 1 || value === 'fail' || value === false;
    if (!usual) warn('unsupported_member', `'${name}' is stored but not executed by this release`, [name]);
  }
}
