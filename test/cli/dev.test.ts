import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli, type ServerProcess, startServer } from '../support/cli-process.ts';
import { waitUntil } from '../support/wait-until.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

let cwd: string;
const servers: ServerProcess[] = [];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-dev-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.end('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
});

async function dev(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const server = await startServer(['dev', ...flags], { cwd, env });
  servers.push(server);
  return server;
}

/** A call of the API; its JSON answer. */
async function api(server: ServerProcess, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const HELLO = {
  name: 'hello',
  blocks: [
    { type: 'step', id: 'greet', handler: 'transform', params: { text: 'Hello, {{data.name}}!' } },
    { type: 'step', id: 'agree', handler: 'noop', wait_for_input: { prompt: 'Send it?' } },
    { type: 'step', id: 'send', handler: 'log', params: { message: '{{outputs.greet.text}}' } },
  ],
};

const ID = '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44';
const OWNER = { tenant_id: 'default', namespace: 'default' };

/** Publishes the sequence and starts one instance; answers its id. */
async function start(server: ServerProcess, sequence: object, data: object = {}): Promise<string> {
  await api(server, '/sequences', {
    ...sequence,
    ...OWNER,
    id: ID,
    version: 1,
    created_at: '2027-01-01T00:00:00Z',
  });
  return (await api(server, '/instances', { ...OWNER, sequence_id: ID, context: { data } })).id;
}

function untilState(server: ServerProcess, id: string, state: string): Promise<unknown> {
  return waitUntil(
    `the instance is ${state}`,
    async () => (await api(server, `/instances/${id}`)).state === state,
  );
}

describe('stepwell dev', () => {
  it('serves a sequence from publishing to the end, over kill -9 and a restart', async () => {
    const first = await dev();
    const id = await start(first, HELLO, { name: 'Ada' });
    await untilState(first, id, 'waiting');
    expect((await api(first, `/instances/${id}/explain`)).waiting_on).toMatchObject([
      { kind: 'gate', block_id: 'agree' },
    ]);
    await first.end('SIGKILL');

    const second = await dev();
    const answer = { signal_type: { custom: 'human_input:agree' }, payload: { value: 'yes' } };
    await api(second, `/instances/${id}/signals`, answer);
    await untilState(second, id, 'completed');
    const tree = await api(second, `/instances/${id}/tree`);
    expect(tree.map((node: { state: string }) => node.state)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
    expect(await second.end('SIGTERM')).toBe(0);
    await waitUntil('it says that it has stopped', () => second.stdout().includes('{"event":"stopped"}'));
  });

  it('refuses a second process on the same folder and names the first', async () => {
    const first = await dev();
    const second = await runCli(['dev', '--port', '0'], { cwd });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`in use by another process (pid ${first.child.pid})`);
    expect(second.stderr).toContain('--data <another folder>');
  });

  it('takes calls without key and tenant, for the tenant default', async () => {
    const { url } = await dev();
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(await (await fetch(`${url}/api/v1/sequences`)).json()).toEqual({ items: [], has_more: false });
    expect(await (await fetch(`${url}/info`)).json()).toMatchObject({ contract_schema_version: 1 });
  });

  it('shows all tenants to calls without one where the header is switched off by name [API 1.4]', async () => {
    const { url } = await dev([], { STEPWELL_REQUIRE_TENANT_HEADER: 'false' });
    for (const tenant of ['kiln', 'weir']) {
      const id = crypto.randomUUID();
      const blocks = [{ type: 'step', id: 'only', handler: 'noop' }];
      const scope = { tenant_id: tenant, namespace: 'default', name: 'one', version: 1 };
      const body = JSON.stringify({ id, ...scope, created_at: '2026-01-01T00:00:00Z', blocks });
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(`${url}/api/v1/sequences`, { method: 'POST', headers, body })).status).toBe(201);
      expect((await fetch(`${url}/api/v1/sequences/${id}`)).status).toBe(200);
    }
    const listed = await fetch(`${url}/api/v1/sequences?limit=1`);
    expect(await listed.json()).toMatchObject({ items: [{ tenant_id: 'kiln' }], has_more: true });
  });

  it('asks for the key when one is set', async () => {
    const { url } = await dev([], { STEPWELL_API_KEY: 'secret-key' });
    expect((await fetch(`${url}/api/v1/sequences`)).status).toBe(401);
    const headers = { 'x-api-key': 'secret-key', 'x-tenant-id': 'default' };
    expect((await fetch(`${url}/api/v1/sequences`, { headers })).status).toBe(200);
  });

  it('refuses a database of another machine unless it is told so, before it connects', async () => {
    const env = { STEPWELL_DATABASE_URL: 'postgres://owner:s3cret-word@db.invalid/flows' };
    const refused = await runCli(['dev', '--port', '0'], { cwd, env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('PostgreSQL db.invalid/flows is not on this machine');
    expect(refused.stderr).toContain('add --remote-database');
    expect(refused.stderr).not.toContain('s3cret-word');
    const meant = await runCli(['dev', '--port', '0', '--remote-database'], { cwd, env });
    expect(meant.stderr).toContain('cannot be migrated');
    const { url } = await dev(['--data', '.stepwell'], env);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });

  it('publishes the sequences of a folder at each start, as a deployment does', async () => {
    const write = (file: string, sequence: object): void => {
      mkdirSync(join(cwd, 'sequences/deep'), { recursive: true });
      writeFileSync(
        join(cwd, 'sequences', file),
        `${file.endsWith('.json') ? '' : 'export const it = '}${JSON.stringify(sequence)}`,
      );
    };
    const wait = { name: 'wait', blocks: [{ type: 'step', id: 'a', handler: 'noop' }] };
    const versions = async (server: ServerProcess, name: string) =>
      (await api(server, `/sequences/versions?tenant_id=default&namespace=default&name=${name}`)).length;
    write('deep/hello.json', HELLO);
    write('wait.mjs', wait);
    const first = await dev(['--sequences', 'sequences']);
    expect([await versions(first, 'hello'), await versions(first, 'wait')]).toEqual([1, 1]);
    await first.end('SIGTERM');
    write('wait.mjs', { ...wait, blocks: [{ type: 'step', id: 'b', handler: 'noop' }] });
    const second = await dev(['--sequences', 'sequences']);
    expect([await versions(second, 'hello'), await versions(second, 'wait')]).toEqual([1, 2]);
    await second.end('SIGTERM');
    write('deep/hello.json', { name: 'hello' });
    const refused = await runCli(['dev', '--sequences', 'sequences'], { cwd });
    expect(refused.stderr).toContain('sequences/deep/hello.json is no sequence: it has no blocks (a list)');
  });

  it('warns at each start about what looks wrong in its sequences, as a publish does', async () => {
    const pay = { type: 'step', id: 'pay', handler: 'transfrm', seconds: 5 };
    writeFileSync(join(cwd, 'bad.json'), JSON.stringify({ name: 'bad', blocks: [pay] }));
    for (const isNew of [true, false]) {
      const server = await dev(['--sequences', 'bad.json', '--data', '.stepwell']);
      const told = server.stderr();
      expect(told.includes('Published bad version 1.')).toBe(isNew);
      expect(told).toMatch(
        /Warning bad, block 'pay': unknown field 'seconds' is ignored at blocks\[0\]\.seconds\n/,
      );
      expect(told).toMatch(
        /Warning bad, block 'pay': handler 'transfrm' .*'transform'\? at blocks\[0\]\.handler\n/,
      );
      await server.end('SIGTERM');
    }
  });

  it('warns about a misspelt variable and goes on', async () => {
    const server = await dev([], { STEPWELL_LEASE_MSS: '1' });
    expect(server.stderr()).toContain('Did you mean STEPWELL_LEASE_MS?');
  });
});

describe('stopping stepwell dev', () => {
  let service: Server;
  let calls: string[];
  let answer: () => void;

  /** A service that answers each call when the test says so. */
  beforeEach(async () => {
    calls = [];
    const waiting: Array<() => void> = [];
    answer = () => {
      for (const send of waiting.splice(0)) send();
    };
    service = createServer((request, response) => {
      calls.push(String(request.headers['idempotency-key']));
      waiting.push(() => response.end('{}'));
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
  });

  afterEach(() => {
    service.closeAllConnections();
    service.close();
  });

  /** An instance with a call under way. */
  async function busyServer(env: Readonly<Record<string, string>> = {}) {
    const address = service.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const server = await dev([], { STEPWELL_ALLOW_INTERNAL_URLS: '1', ...env });
    const params = { url: `http://127.0.0.1:${port}/`, method: 'POST', json: {} };
    const id = await start(server, {
      name: 'slow',
      blocks: [
        { type: 'step', id: 'call', handler: 'http_request', params },
        { type: 'step', id: 'after', handler: 'noop' },
      ],
    });
    await waitUntil('the call is under way', () => calls.length === 1);
    return { server, id };
  }

  it('waits for a step that runs, and its result is not lost', async () => {
    const { server, id } = await busyServer();
    const ended = server.end('SIGTERM');
    await waitUntil('it says that it stops', () => server.stdout().includes('"stopping"'));
    answer();
    expect(await ended).toBe(0);
    const next = await dev();
    await untilState(next, id, 'completed');
    expect(calls).toHaveLength(1);
  });

  it('gives up after the grace time; the step runs again with the same key', async () => {
    const { server, id } = await busyServer({ STEPWELL_SHUTDOWN_GRACE_SECS: '0' });
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.stderr()).toContain('they run again');
    const next = await dev([], { STEPWELL_ALLOW_INTERNAL_URLS: '1' });
    await waitUntil('the call comes again', () => calls.length === 2);
    answer();
    await untilState(next, id, 'completed');
    expect(new Set(calls).size).toBe(1);
  });

  it('stops at once at the second Ctrl-C', async () => {
    const { server } = await busyServer();
    const code = await waitUntil('it is gone', () => {
      server.child.kill('SIGINT');
      return server.child.exitCode;
    });
    expect(code).toBe(130);
  });
});
