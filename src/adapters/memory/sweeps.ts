import type { Said, SweepStore, WorkLook } from '../../ports/store/sweeps.ts';
import type { Run, Tx } from './database.ts';
import { announceHandlers } from './handler-names.ts';
import { nextWake } from './leases.ts';
import { heartbeat } from './nodes.ts';
import { hasExpired } from './start.ts';
import { allTasks } from './tasks.ts';

/** The part of the store that a sweep asks first. */
export function sweepPart(run: Run): SweepStore {
  return { lookForWork: (said) => run((tx) => lookForWork(tx, said)) };
}

function lookForWork(tx: Tx, { beat, announcement }: Said): WorkLook {
  const drains = beat === undefined ? null : heartbeat(tx, beat.id, beat.name, beat.silentMs);
  const live = announcement === undefined ? null : announceHandlers(tx, announcement, announcement.within);
  const later = tx.db.instances
    .values()
    .map(({ dueAt, leaseUntil }) => (leaseUntil === null && dueAt !== null && dueAt > tx.t ? dueAt : null));
  const claimed = allTasks(tx.db).filter((task) => !task.removed && task.state === 'claimed');
  return {
    ...nextWake(tx),
    laterAt: first(later),
    taskHeardAt: first(claimed.map(({ heartbeatAt }) => heartbeatAt)),
    webhookAt: first(tx.db.outbox.values().map(({ nextAttemptAt }) => nextAttemptAt)),
    hasExpired: hasExpired(tx),
    live,
    drains,
  };
}

function first(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}
