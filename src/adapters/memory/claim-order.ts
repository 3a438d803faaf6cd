import { compareCodePoints } from '../../core/json.ts';
import type { InstanceRow } from './rows.ts';

/**
 * Priority first, then tenants in turn, then due time, then id (RULINGS A30): within a priority every tenant's first
 * row comes before any tenant's second one, so a backlog of one tenant holds nobody else up.
 */
export function inClaimOrder(rows: readonly InstanceRow[]): readonly InstanceRow[] {
  const seen = new Map<string, number>();
  const ranked = [...rows].sort(byPriorityAndDue).map((row) => {
    const group = `${row.priority}:${row.tenantId}`;
    const rank = seen.get(group) ?? 0;
    seen.set(group, rank + 1);
    return { row, rank };
  });
  ranked.sort((a, b) => b.row.priority - a.row.priority || a.rank - b.rank || byPriorityAndDue(a.row, b.row));
  return ranked.map(({ row }) => row);
}

export function byPriorityAndDue(a: InstanceRow, b: InstanceRow): number {
  return b.priority - a.priority || (a.dueAt ?? 0) - (b.dueAt ?? 0) || compareCodePoints(a.id, b.id);
}

export function oldestLeaseFirst(rows: readonly InstanceRow[]): readonly InstanceRow[] {
  return [...rows].sort((a, b) => (a.leaseUntil ?? 0) - (b.leaseUntil ?? 0) || compareCodePoints(a.id, b.id));
}
