import type { Block, SequenceDocument } from './document.ts';
import type { Warn, Warning } from './warning.ts';

/**
 * Members that are checked and stored, and that this build does not act on. A publish says so, since a run would only
 * show it by what does not happen.
 */
const OF_FOR_EACH = ['concurrency', 'on_item_failure', 'tolerate', 'collect'] as const;
const OF_STEP = ['rate_limit_key', 'pool', 'fallback_handler'] as const;
const OF_SEQUENCE = ['interceptors', 'sla', 'on_failure', 'on_cancel'] as const;

const message = (name: string): string => `'${name}' is stored but not executed by this release`;

/** Values that ask for no more than what happens without the member pass silently. */
export function warnUnsupported(block: Block, warn: Warn): void {
  if (block.type === 'step') {
    for (const name of OF_STEP) {
      if (block[name] !== undefined) warn('unsupported_member', message(name), [name]);
    }
  }
  if (block.type !== 'for_each') return;
  for (const name of OF_FOR_EACH) {
    const value = block[name];
    const usual = value === undefined || value === 1 || value === 'fail' || value === false;
    if (!usual) warn('unsupported_member', message(name), [name]);
  }
}

export function unsupportedOfSequence(document: SequenceDocument): readonly Warning[] {
  return OF_SEQUENCE.filter((name) => document[name] !== undefined).map((name) => ({
    code: 'unsupported_member',
    path: name,
    message: message(name),
  }));
}
