import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwell-npm-start-'));
  // `npm ci` leaves the bundles there; only a clone without it lacks them.
  if (!existsSync('dist/cli.js')) execFileSync(process.execPath, ['scripts/prepare.mjs'], { stdio: 'pipe' });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm start', () => {
  it('starts the built server with the flags after --, and Ctrl-C ends it gracefully', async () => {
    const flags = ['--port', '0', '--tick-ms', '50', '--cron-tick-secs', '1', '--data', folder];
    // A process group of its own: the terminal sends Ctrl-C to npm and to the server alike.
    const npm = spawn('npm', ['start', '--', ...flags], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    await waitUntil('the server is ready', () => said.includes('Ctrl-C stops it.'));
    const url = /http:\S+(?=\/api\/v1)/.exec(said)?.[0] ?? '';
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(said).toContain(folder);

    const closed = once(npm, 'close');
    process.kill(-(npm.pid ?? 0), 'SIGINT');
    await closed;
    expect(said).toContain('Stopping.');
  });
});
