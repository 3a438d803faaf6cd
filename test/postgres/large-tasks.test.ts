import { describe, expect, it } from 'vitest';
import { TENANT } from '../support/turn-builder.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

/** Tasks of 100 kB that no compression makes smaller; as tasks of hooks they need no instance. */
const FILL = `
INSERT INTO stepwell.worker_tasks (id, tenant_id, namespace, instance_id, block_id, iteration, handler_name, params, context,
  attempt, idempotency_key, of_hook, created_at)
SELECT gen_random_uuid(), $1, 'n', gen_random_uuid(), 'b', '', 'label_print',
  to_jsonb((SELECT string_agg(md5(n::text || m::text), '') FROM generate_series(1, 3125) AS m)), '{}', 0, n::text, true,
  stepwell.sw_now()
FROM generate_series(1, 40) AS n`;

/** Pieces of large values that this transaction has read. */
const PIECES = `
SELECT coalesce(sum(s.idx_tup_fetch), 0) AS pieces FROM pg_stat_xact_all_tables s
JOIN pg_class c ON c.reltoastrelid = s.relid WHERE c.oid = 'stepwell.worker_tasks'::regclass`;

const POLL = "SELECT stepwell.poll_tasks_v1($1, 'label_print', NULL, 'w', NULL, 1000, 250000) AS tasks";

describe('a poll for large tasks', () => {
  const sessions = useSessions(MIGRATED);
  const pieces = async (session: Session) => Number((await session.rows(PIECES))[0]?.['pieces']);

  it('reads no more of them than it gives out, and the first that does not fit', async () => {
    const session = await sessions.open();
    await session.rows(FILL, [TENANT]);
    await session.begin();
    const before = await pieces(session);
    const [answer] = await session.rows(POLL, [TENANT]);
    const read = (await pieces(session)) - before;
    expect(answer?.['tasks']).toHaveLength(2);
    // One task has 51 pieces: three are read for their size, two to be given out.
    expect(read).toBeGreaterThanOrEqual(5 * 50);
    expect(read).toBeLessThanOrEqual(6 * 51);
    await session.rollback();
  });
});
