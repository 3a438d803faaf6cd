import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli, type ServerProcess, startServer } from '../support/cli-process.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres-database.ts';
import { waitUntil } from '../support/wait-until.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

let cwd: string;
let database: TestDatabase;
let env: Readonly<Record<string, string>>;
const servers: ServerProcess[] = [];

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-server-'));
  database = await createTestDatabase();
  env = { STEPWELL_DATABASE_URL: database.url, STEPWELL_DATABASE_MAX_CONNECTIONS: '5' };
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.end('SIGKILL');
  await database.drop();
  rmSync(cwd, { recursive: true, force: true });
});

async function server(command: string, more: Readonly<Record<string, string>> = {}) {
  const started = await startServer([command], { cwd, env: { ...env, ...more } });
  servers.push(started);
  return started;
}

const readiness = async ({ url }: ServerProcess): Promise<number> =>
  (await fetch(`${url}/health/ready`)).status;

describe('on a PostgreSQL server', () => {
  it('serve stays unready until somebody migrates, and needs the key', async () => {
    const serve = await server('serve', { STEPWELL_API_KEY: 'k' });
    expect(await readiness(serve)).toBe(503);
    expect(serve.stderr()).toContain('run `stepwell migrate`');
    expect((await runCli(['doctor'], { cwd, env })).stdout).toMatch(
      /! database .*schema 0 of \d+\n +Run `stepwell migrate`/,
    );

    const first = await runCli(['migrate'], { cwd, env });
    expect(first.stdout).toContain('Applied 0001_tables');
    expect((await runCli(['migrate'], { cwd, env })).stdout).toContain('is up to date');
    const stranger = await runCli(['migrate', '--login', 'nobody-here'], { cwd, env });
    expect(stranger.stderr).toContain('the database has no login nobody-here');
    expect((await runCli(['migrate', '--login', 'postgres'], { cwd, env })).stdout).toContain(
      'is up to date',
    );
    await waitUntil('the server is ready', async () => (await readiness(serve)) === 200);

    const headers = { 'x-api-key': 'k', 'x-tenant-id': 'default' };
    expect((await fetch(`${serve.url}/api/v1/sequences`)).status).toBe(401);
    expect((await fetch(`${serve.url}/api/v1/sequences`, { headers })).status).toBe(200);
    expect(await serve.end('SIGTERM')).toBe(0);
  });

  it('several dev processes come up at once on an empty database and share its instances', async () => {
    const [one, two] = await Promise.all([server('dev'), server('dev')]);
    const sequence = {
      id: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
      tenant_id: 'default',
      namespace: 'default',
      name: 'ask',
      version: 1,
      created_at: '2027-01-01T00:00:00Z',
      blocks: [{ type: 'step', id: 'agree', handler: 'noop', wait_for_input: { prompt: 'Well?' } }],
    };
    const headers = { 'content-type': 'application/json' };
    const post = (on: ServerProcess, path: string, body: unknown) =>
      fetch(`${on.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const get = async (on: ServerProcess, path: string) => (await fetch(`${on.url}/api/v1${path}`)).json();
    expect((await post(one, '/sequences', sequence)).status).toBe(201);
    const body = { sequence_id: sequence.id, tenant_id: 'default', namespace: 'default' };
    const { id } = await (await post(one, '/instances', body)).json();
    await waitUntil('the other one shows the gate', async () => (await get(two, '/approvals')).total === 1);
    const answer = { signal_type: { custom: 'human_input:agree' }, payload: { value: 'yes' } };
    expect((await post(two, `/instances/${id}/signals`, answer)).status).toBe(201);
    await waitUntil(
      'it is completed',
      async () => (await get(one, `/instances/${id}`)).state === 'completed',
    );
  });

  it('a wrong address is told without the password', async () => {
    const url = 'postgres://me:hunter2@127.0.0.1:9/app';
    const { code, stderr } = await runCli(['dev', '--port', '0'], {
      cwd,
      env: { STEPWELL_DATABASE_URL: url },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('PostgreSQL 127.0.0.1:9/app cannot be migrated');
    expect(stderr).toContain('check host and port');
    expect(stderr).not.toContain('hunter2');
  });
});
