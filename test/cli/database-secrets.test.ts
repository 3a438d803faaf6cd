import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli-process.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

const SECRET = 'hidden-w0rd';
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-secrets-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Nobody answers; a host that is not known; an address that is none; one that the password cuts short. */
const ADDRESSES = [
  `postgres://u:${SECRET}@127.0.0.1:9/d`,
  `postgres://u:${SECRET}@nowhere.invalid/d`,
  `postgres://u:${SECRET}@h:port/d`,
  `postgres://u:12/${SECRET}@h/d`,
];

async function refusedBy(args: readonly string[], addresses: readonly string[]): Promise<string> {
  const runs = await Promise.all(
    addresses.map((STEPWELL_DATABASE_URL) => runCli(args, { cwd, env: { STEPWELL_DATABASE_URL } })),
  );
  expect(runs.map(({ code }) => code)).not.toContain(0);
  return runs.map(({ stdout, stderr }) => stdout + stderr).join('');
}

describe('commands that do not reach their database', () => {
  it.each([['migrate'], ['doctor'], ['dev', '--json', '--port', '0']])(
    '%s: never show its password, and say what to do',
    async (...args) => {
      const said = await refusedBy(args, ADDRESSES);
      expect(said).not.toContain(SECRET);
      expect(said).toContain('check host and port in STEPWELL_DATABASE_URL');
      expect(said).toContain('special characters of the password as %XX');
    },
  );
});
