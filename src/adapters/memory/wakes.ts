import { compareCodePoints } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { Wake } from '../../core/run/record.ts';
import type { WakeStore } from '../../ports/store/wakes.ts';
import { type Run, type Tx, findInstance, saveInstance } from './database.ts';
import { waitsFor } from './limit-waits.ts';
import type { InstanceRow } from './rows.ts';
import { acceptFact } from './wake.ts';

export function wakePart(run: Run): WakeStore {
  return {
    wakeInstance: ({ tenantId, instanceId, factId, wake }) =>
      run((tx) => {
        const row = findInstance(tx.db, tenantId, instanceId);
        if (row === null) return 'not_found';
        if (tx.db.inbox.of(row.id).get(factId) !== undefined) return 'accepted';
        if (isTerminal(row.state)) return 'terminal';
        acceptWake(tx, row, factId, wake);
        return 'accepted';
      }),
    wakeLimitWaiters: (tenantId, limit, count) =>
      run((tx) => {
        const waits = waitsFor(tx, tenantId, limit);
        const inOrder = waits.entries().sort(([a], [b]) => compareCodePoints(a, b));
        const found = inOrder.slice(0, count);
        const woken = found.flatMap(([id, until]) => {
          waits.remove(id);
          const row = findInstance(tx.db, tenantId, id);
          if (row === null || isTerminal(row.state) || until <= tx.t) return [];
          acceptWake(tx, row, tx.newId(), { ends: [], startAt: null, limit });
          return [id];
        });
        return { woken, more: found.length === count };
      }),
  };
}

/**
 * One that is at rest for a timer is due in the visible sense too, so that the claim finds it a slot; one that waits for
 * a slot goes on waiting.
 */
function acceptWake(tx: Tx, row: InstanceRow, id: string, wake: Wake): void {
  const woken = acceptFact(tx, row, { id, fact: { kind: 'wake', ...wake }, moves: false });
  const { nextFireAt } = row;
  const isAtRest =
    row.state === 'scheduled' && row.leaseToken === null && nextFireAt !== null && nextFireAt > tx.t;
  const isMeant = wake.startAt === null ? row.startedAt !== null : nextFireAt === wake.startAt;
  if (isAtRest && isMeant && !row.waitsForSlot) saveInstance(tx, { ...woken, nextFireAt: tx.t });
}
