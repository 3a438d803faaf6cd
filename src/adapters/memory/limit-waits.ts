import type { Denial, Takes } from '../../core/run/limits/takes.ts';
import type { LimitRef } from '../../core/run/record.ts';
import type { Tx } from './database.ts';
import type { Table } from './table.ts';

/** Instances that a limit has denied, to the instant at which they look again by themselves. */
export function waitsFor(tx: Tx, tenantId: string, { reason, name }: LimitRef): Table<number> {
  return tx.db.limitWaits.of(JSON.stringify([tenantId, reason, name]));
}

/** A denial is remembered until the attempt looks again by itself. Who may run a fallback waits for both breakers. */
export function noteLimitWait(
  tx: Tx,
  of: { readonly tenantId: string; readonly instanceId: string },
  { rate, breaker, pool }: Takes,
  denied: { readonly reason: Denial; readonly until: number | null },
): void {
  const { reason, until } = denied;
  if (until === null || (reason !== 'rate_limit' && reason !== 'breaker' && reason !== 'pool')) return;
  const names =
    reason === 'rate_limit'
      ? [rate]
      : reason === 'pool'
        ? [pool?.name]
        : [breaker?.handler, breaker?.fallback?.handler];
  for (const name of names) {
    if (name === undefined) continue;
    const waits = waitsFor(tx, of.tenantId, { reason, name });
    waits.put(of.instanceId, Math.max(until, waits.get(of.instanceId) ?? until));
  }
}
