import type { SupersedeRows } from './changes.ts';
import type { NewRow } from './output-row.ts';

/**
 * A rule of a commit looks at rows of earlier commits only, so what it takes out of the commit's own rows goes here: such
 * a row is not written at all. Answers the rows that are left, and the rule as the store has to see it: where this commit
 * brings a newer row of a block, no older one is kept as its latest.
 */
export function supersedePending(
  rows: readonly NewRow[],
  rule: SupersedeRows,
): { readonly rows: readonly NewRow[]; readonly rules: readonly SupersedeRows[] } {
  const ids = new Set(rule.blockIds);
  const newest = new Map<string, NewRow>();
  for (const row of rows)
    if (ids.has(row.blockId) && rule.kinds.includes(row.kind)) newest.set(row.blockId, row);
  if (newest.size === 0) return { rows, rules: [rule] };
  const left = rows.filter((row) => {
    const taken =
      ids.has(row.blockId) && rule.kinds.includes(row.kind) && isWithin(row.iteration, rule.iteration);
    return !taken || (rule.keepLatest && newest.get(row.blockId) === row);
  });
  if (!rule.keepLatest) return { rows: left, rules: [rule] };
  const older = rule.blockIds.filter((id) => !newest.has(id));
  const newer = rule.blockIds.filter((id) => newest.has(id));
  const rules = [
    { ...rule, blockIds: newer, keepLatest: false },
    ...(older.length === 0 ? [] : [{ ...rule, blockIds: older }]),
  ];
  return { rows: left, rules };
}

/** True when a pass is the given one or lies inside it; the empty path encloses all passes. */
export function isWithin(iteration: string, outer: string | null): boolean {
  return outer === null || outer === '' || iteration === outer || iteration.startsWith(`${outer}/`);
}
