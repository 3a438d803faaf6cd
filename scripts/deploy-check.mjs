import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count-tests.mjs';
import { areasTable, benchTables, toldTables } from './deploy-tables.mjs';

/**
 * `npm run deploy:check`: all that can be shown of a deployment without an account, on three versions of Node. On AWS the
 * types and resources of the configuration and the bundled functions under AWS's own runtime client, on Cloudflare the
 * Worker in workerd, and both engines' functions on their own; then figures. A stage counts as one pass or failure, the
 * tests count one by one. The last line is always `N passed, N failed`. `node scripts/deploy-check.mjs figures` runs the named
 * stages only.
 */
const folder = mkdtempSync(join(tmpdir(), 'stepwell-deploy-check-'));
const report = join(folder, 'tests.json');
const figures = join(folder, 'figures.jsonl');
const startedAt = performance.now();
const hasColour = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
const paint = (code, text) => (hasColour ? `\u001B[${code}m${text}\u001B[0m` : text);
const [bold, green, red, dim] = [1, 32, 31, 2].map((code) => (text) => paint(code, text));

const tests = ['run', 'test/deploy', 'test/functions', 'test/sqs', '--reporter=default', '--reporter=json'];
const stages = [
  { name: 'tools', command: ['tsx', 'scripts/install-deploy-tools.mjs'] },
  { name: 'tests', command: ['vitest', ...tests, `--outputFile.json=${report}`] },
  // Once more, with nothing beside it: what takes time on a busy machine says nothing of an idle one.
  {
    name: 'import times',
    command: ['vitest', 'run', 'test/deploy/bundles.test.ts', '-t', 'can be imported'],
  },
  { name: 'figures', command: ['tsx', 'bench/main.ts', '--functions', '--quick', '--json'], isFigures: true },
];

const env = {
  STEPWELL_TEST_NODES: '20,22,24',
  STEPWELL_FIGURES: figures,
  STEPWELL_DEPLOY_TOOLS: '',
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  ...process.env,
  PATH: `${join(process.cwd(), 'node_modules/.bin')}:${process.env.PATH}`,
};

const asked = process.argv.slice(2);
let passedCount = 0;
let failedCount = 0;
const tables = [];
try {
  for (const stage of stages.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
    await runStage(stage);
  }
  tables.unshift(...(existsSync(report) ? [areasTable(report)] : []), ...toldTables(told()));
  for (const text of tables.filter(Boolean)) showTable(text);
} catch (error) {
  failedCount += 1;
  console.error(error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failedCount === 0 ? 0 : 1;
console.log(dim(`\n${seconds(startedAt)} in all`));
console.log(`${passedCount} passed, ${failedCount} failed`);

async function runStage({ name, command, isFigures = false }) {
  console.log(bold(`\n== ${name}: ${command.slice(0, 5).join(' ')}${command.length > 5 ? ' …' : ''}`));
  const begunAt = performance.now();
  const { isOk, output } = await run(command, isFigures);
  const isGood = isOk && (!isFigures || takeFigures(output));
  const counts =
    name === 'tests' && existsSync(report) ? countTests(report) : { passedCount: 0, failedCount: 0 };
  passedCount += counts.passedCount + (isGood ? 1 : 0);
  // A stage that fails although no test did is a failure of its own.
  failedCount += counts.failedCount + (isGood || counts.failedCount > 0 ? 0 : 1);
  // What is missing was told, and is not to be asked for once more.
  if (name === 'tools') env.STEPWELL_DEPLOY_TOOLS = 'done';
  console.log(
    `${bold(`== ${name}:`)} ${isGood ? green('ok') : red('FAILED')} ${dim(`(${seconds(begunAt)})`)}`,
  );
}

/** Of all figures one is a promise: in economy mode an idle hour asks the database nothing. */
function takeFigures(output) {
  const measured = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  tables.push(...benchTables(measured));
  const { statements } = measured.idle.economy;
  if (statements > 0) console.error(`an idle hour in economy mode takes ${statements} statements`);
  return statements === 0;
}

function told() {
  if (!existsSync(figures)) return [];
  return readFileSync(figures, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function showTable(text) {
  const [title, head, ...rows] = text.split('\n');
  console.log(['', bold(title), dim(head), ...rows].join('\n'));
}

function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}

/** Output goes straight through, or is kept. */
function run([program, ...args], isKept) {
  const child = spawn(program, args, { stdio: ['ignore', isKept ? 'pipe' : 'inherit', 'inherit'], env });
  let output = '';
  child.stdout?.on('data', (data) => {
    output += data;
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve({ isOk: false, output });
    });
    child.once('close', (code) => resolve({ isOk: code === 0, output }));
  });
}
