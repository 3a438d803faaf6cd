import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count-tests.mjs';

/**
 * All gates, in order, each whatever the others gave; `npm test`, `npm run check` and CI are this. A stage counts as
 * one pass or failure, the tests count one by one. The last line is always `N passed, N failed`.
 * `node scripts/check.mjs lint types` runs the named stages only.
 */
const reportFolder = mkdtempSync(join(tmpdir(), 'stepwell-check-'));
const report = join(reportFolder, 'tests.json');

const productFolders = ['src', 'functions'].filter(existsSync);

const stages = [
  { name: 'build', command: ['node', 'scripts/prepare.mjs'] },
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'types of the core', command: ['tsc', '-p', 'src/core/tsconfig.json'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  {
    name: 'dependency rules',
    command: ['depcruise', '--config', '.dependency-cruiser.mjs', ...productFolders],
  },
  { name: 'dead code', command: ['knip'] },
  // What only tests use is dead as well.
  { name: 'dead product files', command: ['knip', '--production', '--include', 'files,dependencies'] },
  {
    name: 'tests',
    command: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  },
  // What no passing test carries in its name.
  { name: 'spec coverage', command: ['node', 'scripts/spec-coverage.mjs', report] },
  { name: 'example', command: ['tsx', 'examples/main.ts'] },
].filter(({ name }) => name !== 'example' || existsSync('examples/main.ts'));

const STAGE_TIMEOUT_MS = 40 * 60_000;

const asked = process.argv.slice(2);
let passedCount = 0;
let failedCount = 0;
try {
  for (const stage of stages.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
    await runStage(stage);
  }
} catch (error) {
  failedCount += 1;
  console.error(error);
} finally {
  rmSync(reportFolder, { recursive: true, force: true });
}
process.exitCode = failedCount === 0 ? 0 : 1;
console.log(`${passedCount} passed, ${failedCount} failed`);

async function runStage({ name, command }) {
  console.log(`\n== ${name}: ${command.join(' ').replace(report, '…')}`);
  const startedAt = performance.now();
  const ok = await run(command);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${name}: ${ok ? 'ok' : 'FAILED'} (${seconds} s)`);
  const counts =
    existsSync(report) && name === 'tests' ? countTests(report) : { passedCount: 0, failedCount: 0 };
  passedCount += counts.passedCount + (ok ? 1 : 0);
  // A stage that fails although no test did (an unhandled error, a crash, a timeout) is a failure of its own.
  failedCount += counts.failedCount + (ok || counts.failedCount > 0 ? 0 : 1);
}

/** True when the command exits with 0; its output goes straight through. */
function run([program, ...args]) {
  const path = `${join(process.cwd(), 'node_modules', '.bin')}:${process.env.PATH}`;
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
    timeout: STAGE_TIMEOUT_MS,
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(false);
    });
    child.once('exit', (code) => resolve(code === 0));
  });
}
