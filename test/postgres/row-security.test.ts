import { describe, expect, it } from 'vitest';
import { newInstance, nextId, sequence, task, trigger, turnOf } from '../support/turn-builder.ts';
import { commitOk, startClaimed } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

/** RULINGS A39, reliability.md X35 and X37. */
describe('row-level security', () => {
  const sessions = useSessions(MIGRATED);

  /** Partitions count on their own: whoever names one must be held to the policy as well. */
  const TABLES = `
SELECT c.relname AS name,
  EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS tenants
FROM pg_class c WHERE c.relnamespace = 'stepwell'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`;

  async function tenantTables(session: Session): Promise<readonly string[]> {
    return (await session.rows(TABLES)).flatMap((row) =>
      row['tenants'] === true ? [String(row['name'])] : [],
    );
  }

  async function asApp(session: Session, tenant: string | null): Promise<void> {
    await session.begin();
    await session.rows(
      "SELECT set_config('role', 'stepwell_app', true), set_config('stepwell.tenant', $1, true)",
      [tenant ?? ''],
    );
  }

  /** Rows of both tenants in as many tables as one commit reaches. */
  async function fill(session: Session, tenantId: string): Promise<string> {
    const { store } = session;
    await store.insertSequence(sequence({ tenantId }));
    await store.insertTrigger(trigger({ tenantId, slug: `slug-${nextId()}` }));
    const answer = await store.start({ instances: [newInstance({ tenantId })], onKnownKey: 'first' });
    if (answer.status !== 'ok') throw new Error(answer.status);
    const id = answer.started[0]?.id ?? '';
    const lease = { leaseToken: nextId(), leaseOwner: 'p', leaseMs: 60_000 };
    const claimed = await store.claimOne({ tenantId, instanceId: id, mode: 'hint', ...lease });
    if (claimed.status !== 'claimed') throw new Error(claimed.status);
    const writes = {
      kv: [{ key: 'k', value: 1 }],
      values: [{ key: 'v', value: [1] }],
      tasksCreated: [task()],
    };
    const logs = [{ blockId: 'b', at: 1, level: 'info' as const, message: 'm' }];
    const journal = [{ id: nextId(), kind: 'note', details: {} }];
    await commitOk(store, turnOf(claimed.claim, { ...writes, logs, journal }));
    await store.signal({
      tenantId,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:x',
      payload: null,
    });
    await store.pollTasks({ tenantId, handlerName: 'parcel_lookup', workerId: 'w', version: null, limit: 1 });
    return id;
  }

  it('holds for every table but four, which have no tenants in them', async () => {
    const session = await sessions.open();
    const without = (await session.rows(TABLES)).filter((row) => row['tenants'] === false);
    expect(without.map((row) => row['name'])).toEqual([
      'cluster_nodes',
      'handler_names',
      'schema_migrations',
      'worker_commands',
    ]);
    expect((await tenantTables(session)).length).toBeGreaterThan(40);
  });

  it('is enabled and forced on every table of tenants, with both policies and no cast of the setting', async () => {
    const session = await sessions.open();
    for (const table of await tenantTables(session)) {
      const found = await session.rows(
        `
SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
  (SELECT array_agg(p.polname::text ORDER BY p.polname) FROM pg_policy p WHERE p.polrelid = c.oid) AS policies,
  (SELECT pg_get_expr(p.polqual, p.polrelid) = pg_get_expr(p.polwithcheck, p.polrelid)
     AND pg_get_expr(p.polqual, p.polrelid) LIKE '%NULLIF(current_setting(%' FROM pg_policy p
   WHERE p.polrelid = c.oid AND p.polname = 'tenant_isolation') AS sound
FROM pg_class c WHERE c.oid = format('stepwell.%I', $1::text)::regclass`,
        [table],
      );
      const policies = ['engine_all_tenants', 'tenant_isolation'];
      if (table === 'worker_registry') policies.push('workers_of_no_tenant');
      expect(found).toEqual([{ name: table, forced: true, policies, sound: true }]);
    }
  });

  it('knows two roles that may not log in, own no table and bypass nothing', async () => {
    const session = await sessions.open();
    const roles = await session.rows(`
SELECT r.rolname AS name, r.rolcanlogin OR r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb AS powerful,
  EXISTS (SELECT 1 FROM pg_class c WHERE c.relowner = r.oid) AS owner
FROM pg_roles r WHERE r.rolname IN ('stepwell_app', 'stepwell_engine') ORDER BY 1`);
    expect(roles).toEqual([
      { name: 'stepwell_app', powerful: false, owner: false },
      { name: 'stepwell_engine', powerful: false, owner: false },
    ]);
  });

  it('shows the app role nothing without a tenant, and only its own rows with one', async () => {
    const session = await sessions.open();
    await fill(session, 'north');
    await fill(session, 'south');
    const tables = await tenantTables(session);
    await asApp(session, null);
    for (const table of tables) {
      expect(
        await session.rows(`SELECT '${table}' AS name, count(*)::int AS rows FROM stepwell.${table}`),
      ).toEqual([{ name: table, rows: 0 }]);
    }
    await session.rollback();
    await asApp(session, 'north');
    const seen = new Set<string>();
    for (const table of tables) {
      for (const row of await session.rows(`SELECT DISTINCT tenant_id FROM stepwell.${table}`)) {
        expect(row).toEqual({ tenant_id: 'north' });
        seen.add(table);
      }
    }
    expect(seen.size).toBeGreaterThanOrEqual(12);
    await session.rollback();
  });

  it('lets the app role write the catalog of its own tenant only', async () => {
    const session = await sessions.open();
    const insert = (tenant: string) =>
      session.rows(
        `INSERT INTO stepwell.sequences (id, tenant_id, namespace, name, version, status, definition, content_hash, created_at)
         VALUES (gen_random_uuid(), $1, 'n', $2, 1, 'draft', '{}', '', now())`,
        [tenant, nextId()],
      );
    await asApp(session, 'north');
    await insert('north');
    await expect(insert('south')).rejects.toMatchObject({ code: '42501' });
    await session.rollback();
    await asApp(session, 'north');
    const changed = await session.rows(
      "UPDATE stepwell.sequences SET deprecated = true WHERE tenant_id <> 'north' RETURNING id",
    );
    expect(changed).toEqual([]);
    await expect(session.rows("UPDATE stepwell.sequences SET tenant_id = 'south'")).rejects.toMatchObject({
      code: '42501',
    });
    await session.rollback();
  });

  it('lets nobody but the functions change instances and what belongs to them', async () => {
    const session = await sessions.open();
    for (const table of [
      'task_instances',
      'block_outputs',
      'signal_inbox',
      'execution_tree',
      'worker_tasks',
      'audit_log',
      'kv',
    ]) {
      for (const attempt of [
        `DELETE FROM stepwell.${table}`,
        `UPDATE stepwell.${table} SET tenant_id = tenant_id`,
      ]) {
        await asApp(session, 'north');
        await expect(session.rows(attempt)).rejects.toMatchObject({ code: '42501' });
        await session.rollback();
      }
    }
  });

  it('gives the parts of the functions to nobody', async () => {
    const session = await sessions.open();
    const callable = await session.rows(`
SELECT p.proname AS name FROM pg_proc p
WHERE p.pronamespace = 'stepwell'::regnamespace AND has_function_privilege('stepwell_app', p.oid, 'EXECUTE') ORDER BY 1`);
    const internal = callable.map((row) => String(row['name'])).filter((name) => !name.endsWith('_v1'));
    expect(internal).toEqual([
      'change_horizon',
      'frames_json',
      'from_ms',
      'history_json',
      'inbox_json',
      'injected_blocks',
      'instance_json',
      'instance_view',
      'instance_views',
      'is_terminal',
      'rows_within',
      'schedule_json',
      'session_json',
      'sw_now',
      'task_json',
      'to_ms',
      'within_bytes',
    ]);
    const open = await session.rows(
      "SELECT proname FROM pg_proc WHERE pronamespace = 'stepwell'::regnamespace AND has_function_privilege('public', oid, 'EXECUTE')",
    );
    expect(open).toEqual([]);
  });

  it('runs the hot functions as the engine role with a pinned search path', async () => {
    const session = await sessions.open();
    const functions = await session.rows(`
SELECT p.proname AS name, r.rolname AS owner, p.prosecdef AS definer, p.provolatile AS volatility,
  'search_path=pg_catalog, pg_temp' = ANY (p.proconfig) AS pinned
FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
WHERE p.pronamespace = 'stepwell'::regnamespace AND p.proname LIKE '%\\_v1'`);
    expect(functions.length).toBeGreaterThan(20);
    for (const each of functions) {
      expect(each).toMatchObject({ owner: 'stepwell_engine', definer: true, volatility: 'v', pinned: true });
    }
  });

  it('takes another tenant’s ids for unknown in every operation of the store', async () => {
    const session = await sessions.open();
    const { store } = session;
    const id = await fill(session, 'south');
    const other = 'north';
    const lease = { leaseToken: nextId(), leaseOwner: 'p', leaseMs: 1_000 };
    const sections = { data: {} };
    expect(await store.getInstance(other, id)).toBeNull();
    expect(await store.getFrontier(other, id)).toBeNull();
    expect(await store.listOutputs(other, id, { node: true, retry: true })).toBeNull();
    expect(await store.listNodeRows(other, id)).toBeNull();
    expect(await store.listAudit(other, id, 5)).toBeNull();
    expect(await store.listLogs(other, id, 5)).toBeNull();
    expect(await store.listChildren(other, id)).toBeNull();
    expect(
      await store.claimOne({ tenantId: other, instanceId: id, mode: 'operator', ...lease }),
    ).toMatchObject({ status: 'not_found' });
    expect(
      await store.signal({
        tenantId: other,
        instanceId: id,
        signalId: nextId(),
        signalType: 'cancel',
        payload: null,
      }),
    ).toEqual({ status: 'not_found' });
    expect(
      await store.patchContext({
        tenantId: other,
        instanceId: id,
        factId: nextId(),
        sections,
        mode: 'replace',
        maxContextBytes: 0,
      }),
    ).toBe('not_found');
    expect(await store.readOutputs({ tenantId: other, instanceId: id }, 'all')).toEqual(new Map());
    expect(await store.readState({ tenantId: other, instanceId: id }, 'all')).toEqual(new Map());
    const [claimed] = await store.listTasks({
      tenantId: 'south',
      states: [],
      handlerName: null,
      workerId: null,
      queueName: null,
      limit: 5,
      offset: 0,
    });
    expect(claimed).toBeDefined();
    expect(await store.getTask(other, claimed?.id ?? '')).toBeNull();
    expect(await store.listTaskEvents(other, claimed?.id ?? '', 5)).toBeNull();
  });

  it('leaves no tenant behind on the connection', async () => {
    const session = await sessions.open();
    await startClaimed(session.store);
    await session.begin();
    await session.store.listTriggers('north', 5);
    await session.commit();
    const [after] = await session.rows(
      "SELECT current_user AS role, current_setting('stepwell.tenant', true) AS tenant",
    );
    expect(after).toEqual({ role: 'postgres', tenant: '' });
  });
});
