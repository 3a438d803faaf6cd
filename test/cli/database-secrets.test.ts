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

describe('commands that do not reach their database', () => {
  it.each([['migrate'], ['doctor'], ['dev', '--json', '--port', '0'], ['settings']])(
    '%s: never show its password',
    async (...args) => {
      const runs = await Promise.all(
        (args[0] === 'settings' ? ADDRESSES.slice(2) : ADDRESSES).map((STEPWELL_DATABASE_URL) =>
          runCli(args, { cwd, env: { STEPWELL_DATABASE_URL } }),
        ),
      );
      for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toContain(SECRET);
      if (args[0] !== 'settings') for (const { code } of runs) expect(code).not.toBe(0);
    },
  );
});
