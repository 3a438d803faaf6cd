import { countTests } from './count-tests.mjs';

/** The tables at the end of `npm run deploy:check`, as text. Figures are shown beside what they are to be, and not asserted. */

const NODES = ['20', '22', '24'];
/** docs/decisions/0014: what somebody waits for. */
const IMPORT_TARGET_MS = 70;

const AREAS = [
  ['AWS: types of the configuration and the template', /test.deploy.types/],
  ["AWS: resources under Pulumi's mocks, a planted mistake for each rule", /test.deploy.infra/],
  ['AWS: what the functions load', /test.deploy.bundles/],
  ["AWS: the functions under AWS's runtime client", /test.deploy.lambda/],
  ['Cloudflare: the Worker in workerd, its bundle, economy mode', /test.functions.cloudflare/],
  ['Functions of both, their queues and wakes', /test.(functions.(?!cloudflare)|sqs)/],
];

/** Tests by what they are about. */
export function areasTable(reportPath) {
  const isNamed = (name) => AREAS.some(([, pattern]) => pattern.test(name));
  const rows = [...AREAS, ['others', { test: (name) => !isNamed(name) }]].map(([title, pattern]) => {
    const { passedCount, failedCount } = countTests(reportPath, (name) => pattern.test(name));
    return [title, String(passedCount), String(failedCount)];
  });
  return table(
    'Tests',
    ['of', 'passed', 'failed'],
    rows.filter(([, ...counts]) => counts.some((n) => n !== '0')),
  );
}

/** What tests told on their way, as test/support/figures.ts writes it. */
export function toldTables(lines) {
  const of = (name) => lines.filter((line) => line.table === name);
  return [faultsTable(of('faults')), bundlesTable(of('bundles'), of('imports')), workerTable(of('worker'))];
}

function faultsTable(rows) {
  return table(
    'The example, every run completed, every effect once: what happened to messages and processes meanwhile',
    ['on', 'came', 'came twice', 'lost', 'late', 'poison', 'killed'],
    rows.map(({ host, once, sent, twice, doubled, lost, late, poison, killed }) =>
      [host, once ?? sent, twice ?? doubled, lost, late, poison, killed].map(String),
    ),
  );
}

function bundlesTable(bundles, imports) {
  const ms = (name, node) =>
    imports.findLast((line) => line.function === name && line.node === node)?.ms ?? '-';
  return table(
    `What a new process of a function loads before its first event, and how long that takes (target on Node 22: ${IMPORT_TARGET_MS} ms)`,
    ['function', 'minified', 'limit', 'with all it may load', ...NODES.map((node) => `Node ${node}`)],
    bundles.map((line) => [
      line.function,
      kilo(line.bytes),
      kilo(line.limitBytes),
      kilo(line.bundleBytes),
      ...NODES.map((node) => `${ms(line.function, node)} ms`),
    ]),
  );
}

function workerTable(rows) {
  return table(
    'The Worker (the free plan takes 3 MB, gzipped)',
    ['bundle', 'size', 'gzipped'],
    rows.map(({ of, bytes, gzipped }) => [of, kilo(bytes), kilo(gzipped)]),
  );
}

/** What `bench/main.ts --functions --json` has measured. */
export function benchTables({ latency, idle }) {
  const asked = ({ statements, requests }) => [String(statements), String(requests)];
  return [
    table(
      "Steps over Neon's HTTP driver, runs of ten; the database is on this machine, latency is added",
      ['turns', 'added latency', 'invocations per step', 'round trips per step', 'ms per step, median'],
      latency.map((row) => [
        row.mode,
        `${row.addedLatencyMs} ms`,
        row.invocationsPerStep.toFixed(2),
        row.roundTripsPerStep.toFixed(2),
        medianOf(row.stepMs).toFixed(1),
      ]),
    ),
    table(
      'A deployment with nothing to do, in an hour',
      ['mode', 'statements', 'requests'],
      [
        ['steady: a sweep each minute', ...asked(idle.steady)],
        ['economy', ...asked(idle.economy)],
        ['economy: a safety sweep, every six hours', ...asked(idle.safetySweep)],
      ],
    ),
  ];
}

function medianOf(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const kilo = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

/** The first column is text, the others figures; empty without rows. */
function table(title, head, rows) {
  if (rows.length === 0) return '';
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column].length)));
  const line = (cells) =>
    `  ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('   ')}`;
  return [title, line(head), ...rows.map(line)].join('\n');
}
