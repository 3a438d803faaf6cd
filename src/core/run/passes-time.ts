import type { Draft } from './draft.ts';

/** [DRY-3]: a dry run passes waits at once and takes no tokens, unless it was started to keep its times. */
export function passesTime({ record }: Draft): boolean {
  return record.dryRun && record.dryRunRealTime !== true;
}
