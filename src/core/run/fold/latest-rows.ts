import type { NewRow, NodeRow } from '../output-row.ts';

/** The latest row of each block that says how it ended, as the tree wants them. Rows come oldest first. */
export function latestNodeRows(
  rows: readonly (NewRow & { readonly createdAt?: number })[],
): readonly NodeRow[] {
  const latest = new Map<string, NodeRow>();
  for (const { blockId, iteration, kind, attempt, startedAt, createdAt = 0, output } of rows) {
    if (kind !== 'result' && kind !== 'node') continue;
    const node = kind === 'node' ? output : null;
    latest.set(blockId, { blockId, iteration, kind, attempt, startedAt, createdAt, node });
  }
  return [...latest.values()];
}
