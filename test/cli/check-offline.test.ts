import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli-process.ts';

// Real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 60_000 });

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'stepwell-offline-'));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(...sequences: readonly object[]): void {
  writeFileSync(join(cwd, 'sequences.ts'), `export const all = ${JSON.stringify(sequences)};`);
}

/** No server listens there, so whoever asks one fails. */
const check = () => runCli(['check', 'sequences.ts', '--offline', '--url', 'http://127.0.0.1:1'], { cwd });

const step = { type: 'step', id: 'pay', handler: 'noop' };

describe('stepwell check --offline', () => {
  it('passes what a deployment would take, with its warnings, and asks no server', async () => {
    write({ name: 'first', blocks: [step] }, { name: 'second', blocks: [{ ...step, seconds: 5 }] });
    const { code, stdout } = await check();
    expect([code, stdout]).toEqual([
      0,
      "Warning second, block 'pay': unknown field 'seconds' is ignored at blocks[0].seconds\n✔ 2 sequences would be taken\n",
    ]);
  });

  it('fails for each document that a deployment would refuse', async () => {
    const gate = { ...step, wait_for_input: { timeout: '2d' } };
    write({ name: 'first', blocks: [gate] }, { name: 'second', blocks: [{ type: 'sleep', id: 'a' }] });
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /first: blocks\[0\]\.wait_for_input\.timeout: .*\n +second: blocks\[0\]\.type: unknown/,
    );
  });

  it('is part of a dry run of the template for Cloudflare', () => {
    const path = resolve(import.meta.dirname, '../../examples/deploy-cloudflare/package.json');
    expect(JSON.parse(readFileSync(path, 'utf8')).scripts['dry-run']).toBe(
      'stepwell check sequences.ts --offline && wrangler deploy --dry-run',
    );
  });
});
