import { is } from 'drizzle-orm';
import { PgTable, getTableConfig } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import * as schema from '../../src/adapters/postgres/schema.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

describe('the schema', () => {
  const sessions = useSessions(MIGRATED);

  const COLUMNS = `
SELECT a.attname AS name, format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS type,
  a.attnotnull AS "notNull"
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = format('stepwell.%I', $1::text)::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attname`;

  const tables = Object.values(schema).filter((member) => is(member, PgTable));

  it.each(tables.map((table) => [getTableConfig(table).name, table] as const))(
    'of %s is the same for drizzle and the migrations',
    async (name, table) => {
      const session = await sessions.open();
      const declared = getTableConfig(table)
        .columns.map((column) => ({ name: column.name, type: column.getSQLType(), notNull: column.notNull }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      expect(declared).toEqual(await session.rows(COLUMNS, [name]));
    },
  );

  it('has block outputs in 16 partitions by instance and the audit log in 16 by tenant', async () => {
    const session = await sessions.open();
    const partitioned = await session.rows(`
SELECT p.partrelid::regclass::text AS name, pg_get_partkeydef(p.partrelid) AS key,
  (SELECT count(*)::int FROM pg_inherits i WHERE i.inhparent = p.partrelid) AS parts
FROM pg_partitioned_table p ORDER BY 1`);
    expect(partitioned).toEqual([
      { name: 'stepwell.audit_log', key: 'HASH (tenant_id)', parts: 16 },
      { name: 'stepwell.block_outputs', key: 'HASH (instance_id)', parts: 16 },
    ]);
  });

  it('refuses an instance that nothing would ever look at again (RULINGS A27)', async () => {
    const session = await sessions.open();
    type Row = readonly [
      state: string,
      due: string | null,
      lease: boolean,
      openWaits: number,
      hooks?: string,
    ];
    const insert = ([state, dueAt, lease, openWaits, hooks]: Row) =>
      session.rows(
        `INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, priority, tenant_id, namespace, timezone,
           state, due_at, lease_until, lease_token, open_waits, hooks_pending, updated_at, progress_at)
         VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 1, 't', 'n', 'UTC', $1, $2,
           CASE WHEN $3 THEN now() END, CASE WHEN $3 THEN gen_random_uuid() END, $4, $5, now(), now())`,
        [state, dueAt, lease, openWaits, hooks ?? null],
      );
    const due = '2030-01-01T00:00:00Z';
    for (const stuck of [
      ['running', null, false, 0],
      ['scheduled', null, false, 3],
      ['waiting', null, false, 0],
      ['completed', due, false, 0],
      ['failed', null, false, 1],
      ['cancelled', due, true, 0],
      // An end with cleanup left that nothing would run.
      ['failed', null, false, 0, '{}'],
    ] as const) {
      await expect(insert(stuck)).rejects.toMatchObject({
        constraint: 'task_instances_never_stuck_check',
      });
    }
    await expect(insert(['sleeping', due, false, 0])).rejects.toMatchObject({
      constraint: 'instance_state_check',
    });
    for (const fine of [
      ['running', due, false, 0],
      ['running', null, true, 0],
      ['scheduled', due, false, 0],
      ['waiting', null, false, 1],
      ['waiting', due, false, 0],
      ['paused', null, false, 0],
      ['completed', null, false, 0],
      ['completed', null, true, 0],
      ['failed', due, false, 0, '{}'],
      ['failed', null, true, 0, '{}'],
      ['cancelled', null, false, 1, '{}'],
    ] as const) {
      await insert(fine);
    }
  });

  it('never turns synchronous_commit off (RULINGS A39)', async () => {
    const session = await sessions.open();
    const settings = await session.rows(
      "SELECT proname FROM pg_proc WHERE pronamespace = 'stepwell'::regnamespace AND proconfig::text ~ 'synchronous_commit'",
    );
    expect(settings).toEqual([]);
  });
});
