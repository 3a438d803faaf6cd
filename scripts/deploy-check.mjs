import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count-tests.mjs';

/**
 * `npm run deploy:check`: all that can be shown of a deployment without an account, on three versions of Node. On AWS the
 * types and resources of the configuration and the bundled functions under AWS's own runtime client, on Cloudflare the
 * Worker in workerd, and both engines' functions on their own. The last line is always `N passed, N failed`.
 */
const folder = mkdtempSync(join(tmpdir(), 'stepwell-deploy-check-'));
const report = join(folder, 'tests.json');
const args = [
  'run',
  'test/deploy',
  'test/functions',
  'test/sqs',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
];
const child = spawn(join(process.cwd(), 'node_modules/.bin/vitest'), args, {
  stdio: 'inherit',
  env: { STEPWELL_TEST_NODES: '20,22,24', ...process.env },
});
child.once('exit', (code) => {
  const { passedCount, failedCount } = counts();
  const failed = failedCount + (code === 0 || failedCount > 0 ? 0 : 1);
  rmSync(folder, { recursive: true });
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(`${passedCount} passed, ${failed} failed`);
});

function counts() {
  try {
    return countTests(report);
  } catch {
    return { passedCount: 0, failedCount: 0 };
  }
}
