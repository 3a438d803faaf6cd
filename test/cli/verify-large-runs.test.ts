import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCli, type ServerProcess, startServer } from '../support/cli-process.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

/** More than one page of GET /instances holds, and fewer than are asked for. */
const RUNS = 45;
let cwd: string;
let server: ServerProcess;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-verify-'));
  server = await startServer(['dev'], { cwd, env: { STEPWELL_DATABASE_URL: 'pglite:memory' } });
  const gate = { type: 'step', id: 'agree', handler: 'noop', wait_for_input: { prompt: 'Send it?' } };
  writeFileSync(join(cwd, 'ask.json'), JSON.stringify({ name: 'ask', blocks: [gate] }));
});

afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
});

it('verify --all meets every run, also where a page of them is shorter than was asked for', async () => {
  await runCli(['publish', 'ask.json', '--url', server.url], { cwd });
  const data = { text: 'x'.repeat(200 * 1024) };
  const start = {
    ...{ tenant_id: 'default', namespace: 'default', sequence_name: 'ask' },
    context: { data },
  };
  for (let at = 0; at < RUNS; at += 15) {
    const response = await fetch(`${server.url}/api/v1/instances/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
      body: JSON.stringify({ instances: Array.from({ length: 15 }, () => start) }),
    });
    expect([response.status, await response.json()]).toEqual([201, { count: 15 }]);
  }
  const { stdout, code } = await runCli(['verify', '--all', '--url', server.url], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${RUNS} checked`)]);
});
