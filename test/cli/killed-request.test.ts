import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ServerProcess, startServer } from '../support/cli-process.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres-database.ts';
import { waitUntil } from '../support/wait-until.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

/** An answer that is to be kept waits for a lock which the test holds. */
const STOP_BEFORE_KEEPING = `
CREATE FUNCTION public.wait_for_the_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4711);
  RETURN NEW;
END $$;
CREATE TRIGGER wait_for_the_test BEFORE UPDATE ON stepwell.idempotency_keys FOR EACH ROW
  WHEN (NEW.answer_status IS NOT NULL) EXECUTE FUNCTION public.wait_for_the_test();
SELECT pg_advisory_lock(4711)`;
const WAITING = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

let cwd: string;
let database: TestDatabase;
let control: pg.Client;
const servers: ServerProcess[] = [];

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-killed-'));
  database = await createTestDatabase();
  control = new pg.Client({ connectionString: database.url });
  await control.connect();
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.end('SIGKILL');
  await control.end();
  await database.drop();
  rmSync(cwd, { recursive: true, force: true });
});

async function startedServer(): Promise<ServerProcess> {
  const env = { STEPWELL_DATABASE_URL: database.url, STEPWELL_DATABASE_MAX_CONNECTIONS: '5' };
  const server = await startServer(['dev'], { cwd, env });
  servers.push(server);
  return server;
}

async function post({ url }: ServerProcess, path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': `key of ${path}` };
  return fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('a server that is killed while it carries a request out', () => {
  it('leaves an instance that the same request finds again, and does not start another one (RULINGS B13)', async () => {
    const first = await startedServer();
    const sequence = {
      ...{
        id: '0192c1de-7b4e-7cc0-9a51-0d6f3b7f2a10',
        tenant_id: 'default',
        namespace: 'n',
        name: 's',
        version: 1,
      },
      ...{ created_at: '2027-02-11T07:45:00Z', blocks: [{ type: 'step', id: 'a', handler: 'noop' }] },
    };
    expect((await post(first, '/sequences', sequence)).status).toBe(201);
    const start = { sequence_id: sequence.id, tenant_id: 'default', namespace: 'n' };
    await control.query(STOP_BEFORE_KEEPING);
    const lost = post(first, '/instances', start).catch(() => 'no answer');
    const waiting = await waitUntil('the answer is about to be kept', async () => {
      const { rows } = await control.query<{ pid: number }>(WAITING);
      return rows[0]?.pid;
    });
    await first.end('SIGKILL');
    expect(await lost).toBe('no answer');
    // What the dead process had sent to the server dies with it.
    await control.query('SELECT pg_terminate_backend($1)', [waiting]);
    await control.query('DROP TRIGGER wait_for_the_test ON stepwell.idempotency_keys');
    await control.query('SELECT pg_advisory_unlock_all()');

    const second = await startedServer();
    const early = await post(second, '/instances', start);
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '1']);
    await control.query(
      'UPDATE stepwell.idempotency_keys SET lease_until = now() WHERE lease_until IS NOT NULL',
    );
    const answer = await post(second, '/instances', start);
    const started = await answer.json();
    expect([answer.status, started.deduplicated]).toEqual([201, false]);
    const { items } = await (await fetch(`${second.url}/api/v1/instances`)).json();
    expect(items.map(({ id }: { id: string }) => id)).toEqual([started.id]);
    expect(await (await post(second, '/instances', start)).json()).toEqual(started);
  });
});
