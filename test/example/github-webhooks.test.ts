import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../examples/github-webhooks/report.ts';
import { createTestDatabase } from '../support/postgres-database.ts';

const MAIN = fileURLToPath(new URL('../../examples/main.ts', import.meta.url));
const TEST_TIMEOUT_MS = 150_000;

/** The example as `npm run example` runs it. */
async function example(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN, '--json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said.stderr += chunk;
  });
  await once(child, 'close');
  return { code: child.exitCode, ...said };
}

function expectGood({ code, stdout, stderr }: Awaited<ReturnType<typeof example>>): Summary {
  // The story says what went wrong, and its last line how to repeat it.
  if (code !== 0) throw new Error(stderr);
  const summary = JSON.parse(stdout) as Summary;
  expect(summary).toMatchObject({ ok: true, kills: 3, findings: { violations: [] } });
  expect(summary.findings.completedCount).toBe(summary.runs);
  return summary;
}

describe('the GitHub webhooks example', () => {
  it(
    'ends well on the embedded database, with the engine killed three times',
    async () => {
      const result = await example('--seed', '20270101', '--runs', '8');
      expectGood(result);
      expect(result.stderr).toContain('kill -9');
      expect(result.stderr).toMatch(/✔ summary +step/);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'ends well on PostgreSQL, with the engine killed three times',
    async () => {
      const database = await createTestDatabase();
      const result = await example('--seed', '20270102', '--runs', '8', '--database', database.url);
      expect(expectGood(result).database).toBe('postgresql');
      expect(result.stdout).not.toContain(database.url);
      await database.drop();
    },
    TEST_TIMEOUT_MS,
  );

  it('refuses options that make no sense', async () => {
    const { code, stderr } = await example('--runs', '0');
    expect(code).toBe(2);
    expect(stderr).toContain('--runs      number of webhooks');
  });
});
