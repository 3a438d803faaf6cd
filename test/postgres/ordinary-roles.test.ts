import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admitLogin } from '../../src/adapters/postgres/admit-login.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { SCHEMA_VERSION, migrate } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { migrateServer } from '../../src/cli/open-store.ts';
import { ok } from '../../src/core/result.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { settingsSchema } from '../../src/settings/schema.ts';
import { type PostgresServer, startPostgresServer } from '../support/postgres-server.ts';
import {
  TENANT,
  auditEntry,
  newInstance,
  nextId,
  row,
  sequence,
  settleAs,
  turnOf,
} from '../support/turn-builder.ts';
import { commitOne, request, signalOf } from './acts.ts';

/**
 * A hosted database gives nobody a superuser: the owner may create roles and its own database's objects, and processes
 * may log in as somebody who owns nothing. A server of its own, since roles belong to the whole server.
 */
describe('without a superuser', () => {
  let server: PostgresServer | undefined;
  const urlOf = (user: string): string => {
    if (server === undefined) throw new Error('the server runs while tests run');
    const url = new URL(server.url);
    url.username = user;
    url.pathname = '/hosted';
    return url.href;
  };

  beforeAll(async () => {
    server = await startPostgresServer({ max_connections: '20' });
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('CREATE ROLE owner LOGIN CREATEROLE CREATEDB');
    await admin.query('SET ROLE owner');
    await admin.query('CREATE ROLE process LOGIN');
    await admin.query('CREATE ROLE "one\'s ""own""" LOGIN');
    await admin.query('RESET ROLE');
    await admin.query('CREATE ROLE foreigner LOGIN');
    await admin.query('CREATE DATABASE hosted OWNER owner');
    await admin.end();
  });
  afterAll(() => server?.stop());

  async function runOnce(store: Store): Promise<void> {
    await store.insertSequence(sequence({ name: nextId() }));
    const lease = { leaseToken: nextId(), leaseOwner: 'p', leaseMs: 60_000 };
    const answer = await store.start({ instances: [newInstance()], onKnownKey: 'first', lease });
    if (answer.status !== 'ok') throw new Error(answer.status);
    const claim = answer.started[0]?.claim ?? null;
    if (claim === null) throw new Error('the start was claimed');
    await store.signal(signalOf(claim.instanceId));
    const writes = { rows: [row()], kv: [{ key: 'k', value: 1 }] };
    expect(await commitOne(store, turnOf(claim, writes))).toMatchObject({ verdict: 'ok', granted: false });
    const audit = [auditEntry('running', 'completed')];
    const ending = turnOf(claim, { rev: 1, seenSeq: 1, audit, settle: settleAs('completed') });
    expect(await commitOne(store, ending)).toMatchObject({ verdict: 'ok' });
    expect((await store.claimDue(request())).claims).toEqual([]);
    for (const tenantId of [TENANT, null]) {
      expect(await store.getInstance(tenantId, claim.instanceId)).toMatchObject({ state: 'completed' });
      expect(await store.listOutputs(tenantId, claim.instanceId, { node: true, retry: true })).toHaveLength(
        1,
      );
    }
    expect(await store.getInstance('other', claim.instanceId)).toBeNull();
  }

  it('the owner migrates and runs, and sees no row of its own tables', async () => {
    const driver = createPgDriver({ connectionString: urlOf('owner'), poolSize: 2 });
    expect(await migrate(driver)).toHaveLength(SCHEMA_VERSION);
    expect(await migrate(driver)).toEqual([]);
    await runOnce(createPostgresStore(driver));
    expect(await driver.query('SELECT count(*)::int FROM stepwell.task_instances', [])).toEqual([[0]]);
    await driver.close();
  });

  it('a process that owns nothing runs once it is given the two roles', async () => {
    const owner = createPgDriver({ connectionString: urlOf('owner'), poolSize: 1 });
    expect(await admitLogin(owner, 'process')).toEqual(ok('admitted'));
    expect(await admitLogin(owner, 'process')).toEqual(ok('known'));
    expect(await admitLogin(owner, 'owner')).toEqual(ok('owner'));
    expect(await admitLogin(owner, 'nobody')).toMatchObject({
      error: expect.stringContaining('CREATE ROLE'),
    });
    await owner.close();
    const driver = createPgDriver({ connectionString: urlOf('process'), poolSize: 2 });
    await runOnce(createPostgresStore(driver));
    expect(await driver.query('SELECT count(*)::int FROM stepwell.task_instances', [])).toEqual([[0]]);
    await expect(driver.query('DROP TABLE stepwell.kv', [])).rejects.toMatchObject({ code: '42501' });
    await expect(migrate(driver)).rejects.toThrow('permission denied');
    const settings = settingsSchema.parse({ databaseUrl: urlOf('process') });
    expect(await migrateServer(driver, settings, () => {})).toEqual(ok([]));
    await driver.close();
  });

  it('a process that is not there yet is made with the password of its address, which nobody is shown', async () => {
    const owner = createPgDriver({ connectionString: urlOf('owner'), poolSize: 1 });
    expect(await admitLogin(owner, 'new "one"', "it's \\long")).toEqual(ok('created'));
    expect(await admitLogin(owner, 'new "one"', 'another')).toEqual(ok('known'));
    expect(
      await owner.query(
        'SELECT rolcanlogin, rolsuper, rolcreaterole FROM pg_roles WHERE rolname = \'new "one"\'',
        [],
      ),
    ).toEqual([[true, false, false]]);
    await owner.close();
    const driver = createPgDriver({ connectionString: urlOf('new "one"'), poolSize: 2 });
    await runOnce(createPostgresStore(driver));
    const refused = await admitLogin(driver, 'third', 'very secret');
    expect(refused).toEqual({ ok: false, error: expect.stringContaining('CREATE ROLE "third"') });
    expect(JSON.stringify(refused)).not.toContain('very secret');
    await driver.close();
  });

  it('what such a process asks ends in time, whatever its connection says', async () => {
    const client = new pg.Client({ connectionString: urlOf('process') });
    await client.connect();
    expect((await client.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '10s' }]);
    expect((await client.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '2s' }]);
    await client.end();
  });

  it('a login is let in whatever its name is, and not by somebody who has no say over it', async () => {
    const owner = createPgDriver({ connectionString: urlOf('owner'), poolSize: 1 });
    expect(await admitLogin(owner, 'one\'s "own"')).toEqual(ok('admitted'));
    expect(await admitLogin(owner, 'foreigner')).toMatchObject({
      error: expect.stringContaining('has to run: GRANT stepwell_app TO foreigner'),
    });
    await owner.close();
    const process = createPgDriver({ connectionString: urlOf('process'), poolSize: 1 });
    expect(await admitLogin(process, 'foreigner')).toMatchObject({
      error: expect.stringContaining('ALTER ROLE foreigner'),
    });
    await process.close();
  });
});
