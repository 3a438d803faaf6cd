import type { Session } from './sessions.ts';

/**
 * What the operations read on large tables, counted by the server per transaction: the number of rows that are
 * touched does not depend on how many there are. Counting is stricter than looking at plans, since it
 * sees the statements inside the functions as they really ran.
 */
/** Rows that one operation may touch, by index or by scanning a table (or partition) that holds hardly any. */
const TOUCHED_MAX = 120;
/** It notes the loss of up to 500 leases, whatever it takes over: after a crash there are so many, and not for long. */
const NOTES_LOSSES = /^a claim of expired leases/;
const PER_LOSS = 8 * 500;

const COUNTERS = `
SELECT coalesce(sum(seq_tup_read), 0) AS scanned, coalesce(sum(idx_tup_fetch), 0) AS fetched
FROM pg_stat_xact_user_tables WHERE schemaname = 'stepwell'`;

export interface Cost {
  readonly scanned: number;
  readonly fetched: number;
}

export async function costOf(session: Session, act: () => Promise<unknown>): Promise<Cost> {
  await session.begin();
  const before = await countersOf(session);
  await act();
  await session.rows("SELECT set_config('role', 'none', true)");
  const after = await countersOf(session);
  await session.rollback();
  return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched };
}

/** Summed over all tables of ours; the server goes on counting over several transactions. */
async function countersOf(session: Session): Promise<Cost> {
  const [row] = await session.rows(COUNTERS);
  return { scanned: Number(row?.['scanned']), fetched: Number(row?.['fetched']) };
}

export function tooDear(costs: ReadonlyMap<string, Cost>): readonly string[] {
  return [...costs].flatMap(([name, { scanned, fetched }]) =>
    scanned + fetched <= (NOTES_LOSSES.test(name) ? PER_LOSS : TOUCHED_MAX)
      ? []
      : [`${name}: ${scanned} scanned, ${fetched} fetched`],
  );
}
