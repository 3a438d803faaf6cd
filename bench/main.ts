import { parseArgs } from 'node:util';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { functionFigures, showFunctionFigures } from './functions.ts';
import { engineLatency } from './latency.ts';
import { lateStepCost } from './long-run.ts';
import { rawStepsPerSecond } from './raw-step.ts';
import { serverLatency } from './server-latency.ts';
import { type Spread, showSpread, spreadOf } from './statistics.ts';
import { engineStepsPerSecond } from './throughput.ts';

/**
 * Figures of this machine, side by side in one run: the machine is shared, so the ratios of neighbouring runs say more
 * than any single figure. Durability is on.
 *
 *     npm run bench -- --quick [--database <url>] [--json]
 *     npm run bench -- --functions [--quick] [--database <url>] [--json]
 *     npm run bench -- --idle [--database <url>] [--json]
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    functions: { type: 'boolean', default: false },
    /** Counts only what an idle deployment asks, which takes no quiet machine. */
    idle: { type: 'boolean', default: false },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const INSTANCES = 1_000;
const STEPS = 10;
const STEPS_OF_A_LONG_RUN = 2_000;
const repetitions = values.quick ? 3 : 7;

const server =
  values.database === undefined
    ? await startPostgresServer({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' })
    : { url: values.database, stop: () => Promise.resolve() };

try {
  if (values.idle) await measureFunctions(0);
  else if (values.functions) await measureFunctions(values.quick ? 5 : 20);
  else await measureServer();
} finally {
  await server.stop();
}

async function measureFunctions(runs: number): Promise<void> {
  const figures = await functionFigures(server.url, runs);
  console.log(values.json ? JSON.stringify(figures) : showFunctionFigures(figures));
}

async function measureServer(): Promise<void> {
  const raw: number[] = [];
  const engine: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    raw.push(await rawStepsPerSecond(server.url, INSTANCES, STEPS));
    engine.push(await engineStepsPerSecond(server.url, INSTANCES, STEPS));
    progress(`repetition ${n + 1} of ${repetitions}`);
  }
  const latency = await engineLatency(server.url, values.quick ? 50 : 300, STEPS);
  const late: number[] = [];
  for (let n = 0; n < repetitions; n += 1) late.push(await lateStepCost(server.url, STEPS_OF_A_LONG_RUN));
  const local = await serverLatency(values.quick ? 30 : 200);
  const ratios = engine.map((value, index) => value / (raw[index] ?? value));
  const report = {
    durable_steps_per_second: { engine: spreadOf(engine), raw_statement_per_step: spreadOf(raw) },
    ratio: spreadOf(ratios),
    run_of_10_steps_ms: spreadOf(latency.runsMs),
    round_trips_per_run: latency.roundTripsPerRun,
    last_100_of_2000_steps_to_first_100: spreadOf(late),
    local_server_ms: {
      start: spreadOf(local.start),
      signal: spreadOf(local.signal),
      report: spreadOf(local.report),
      timer: spreadOf(local.timer),
      event: spreadOf(local.event),
    },
  };
  if (values.json) console.log(JSON.stringify(report));
  else show(report);
}

function progress(text: string): void {
  if (!values.json) console.error(`  ${text}`);
}

function show(report: {
  readonly durable_steps_per_second: { readonly engine: Spread; readonly raw_statement_per_step: Spread };
  readonly ratio: Spread;
  readonly run_of_10_steps_ms: Spread;
  readonly round_trips_per_run: number;
  readonly last_100_of_2000_steps_to_first_100: Spread;
  readonly local_server_ms: Readonly<Record<'start' | 'signal' | 'report' | 'timer' | 'event', Spread>>;
}): void {
  const { engine, raw_statement_per_step: rawLoop } = report.durable_steps_per_second;
  const { start, signal, report: reported, timer, event } = report.local_server_ms;
  console.log(`
${INSTANCES} instances of ${STEPS} effectful steps, PostgreSQL with durable commits, medians [min-max] of ${repetitions}

  Stepwell                       ${showSpread(engine)} durable steps/s
  one statement per step, raw    ${showSpread(rawLoop)} durable steps/s
  ratio, run by run              ${showSpread(report.ratio, 2)}

One instance of ${STEPS} steps on an idle server

  start to completed             ${showSpread(report.run_of_10_steps_ms, 2)} ms
  round trips                    ${report.round_trips_per_run.toFixed(2)}

One instance of ${STEPS_OF_A_LONG_RUN} steps

  last 100 to first 100 steps    ${showSpread(report.last_100_of_2000_steps_to_first_100, 2)} times as long

A local server with the embedded database, over HTTP, until the next step is called

  after the start                ${showSpread(start, 1)} ms
  after the answer of a person   ${showSpread(signal, 1)} ms
  after the report of a worker   ${showSpread(reported, 1)} ms
  around a sleep, without it     ${showSpread(timer, 1)} ms
  a step's call to its event     ${showSpread(event, 1)} ms
`);
}
