import type { PriceName, Prices } from './prices.ts';

/** What happens in a month. Durations in ms. */
export interface Workload {
  readonly host: 'aws' | 'cloudflare';
  readonly mode: 'steady' | 'economy';
  readonly runs: number;
  readonly stepsPerRun: number;
  /** Steps that one turn runs before the instance goes back to the queue; 1 = strictly one step per invocation. */
  readonly stepsPerTurn: number;
  /** Time a step waits for its handler. */
  readonly stepMs: number;
  /** Time a step computes; only Workers are billed by it. */
  readonly cpuMs: number;
  /** Messages that one invocation takes; they are worked at side by side. */
  readonly batch: number;
  /** Least size of the database while it is awake, in compute units of Neon. */
  readonly minUnits: number;
}

export interface CostLine {
  readonly what: string;
  readonly amount: number;
  readonly unit: string;
  readonly dollars: number;
}

export interface Estimate {
  /** What the steps of the month cost. */
  readonly work: readonly CostLine[];
  /** What the month costs in which nothing happens. */
  readonly idle: readonly CostLine[];
  readonly perMillionSteps: number;
  readonly idleMonth: number;
}

/** docs/cost.md explains each of these. */
const ASSUMPTIONS = {
  memoryGb: 0.5,
  /** A round trip with a commit. */
  commitMs: 5,
  /** Claim, plan and what else a turn does besides its steps. */
  turnMs: 15,
  requestMs: 20,
  requestCpuMs: 8,
  turnCpuMs: 6,
  logBytesPerInvocation: 400,
  /** Steps that one compute unit of the database carries in a second (reliability.md 5.4). */
  stepsPerUnitSecond: 100,
  /** Economy mode keeps a wake for what an invocation could leave behind; one lasts about so long. */
  guardMinutes: 2,
  /** The database sleeps after so long without a statement. */
  sleepAfterMinutes: 5,
  hoursPerMonth: 730,
  sweepMs: 100,
  sweepsPerMonth: { steady: 43_800, economy: 122 },
  /** Lambda asks an empty queue all the time: five pollers, each waits 20 s. Two queues. */
  emptyReceivesPerMonth: 2 * 5 * 3 * 43_800,
  alarms: 9,
} as const;

const MILLION = 1_000_000;

/** What a workload costs in a month, without network, storage and free tiers. */
export function estimate(workload: Workload, prices: Prices): Estimate {
  const line = lineMaker(prices);
  const work = workload.host === 'aws' ? awsWork(workload, line) : cloudflareWork(workload, line);
  const idle = workload.host === 'aws' ? awsIdle(workload, line) : cloudflareIdle(workload, line);
  const steps = workload.runs * workload.stepsPerRun;
  return {
    work,
    idle,
    perMillionSteps: steps === 0 ? 0 : (sum(work) / steps) * MILLION,
    idleMonth: sum(idle),
  };
}

type Line = (what: string, amount: number, unit: string, price: PriceName, per?: number) => CostLine;

function lineMaker(prices: Prices): Line {
  return (what, amount, unit, price, per = 1) => ({
    what,
    amount,
    unit,
    dollars: (amount / per) * prices[price],
  });
}

function sum(lines: readonly CostLine[]): number {
  return lines.reduce((total, { dollars }) => total + dollars, 0);
}

interface Volume {
  readonly steps: number;
  readonly turns: number;
  readonly invocations: number;
}

function volumeOf({ runs, stepsPerRun, stepsPerTurn, batch }: Workload): Volume {
  const steps = runs * stepsPerRun;
  const turns = runs * Math.ceil(stepsPerRun / stepsPerTurn);
  return { steps, turns, invocations: turns / batch };
}

/** Of the instances of a batch the time is shared: they wait side by side. */
function awsWork(workload: Workload, line: Line): readonly CostLine[] {
  const { memoryGb, commitMs, turnMs, requestMs, logBytesPerInvocation } = ASSUMPTIONS;
  const { steps, turns, invocations } = volumeOf(workload);
  const turnSeconds = (steps * (workload.stepMs + commitMs) + turns * turnMs) / workload.batch / 1000;
  const gbSeconds = memoryGb * (turnSeconds + (workload.runs * requestMs) / 1000);
  const calls = invocations + workload.runs;
  return [
    line('Lambda requests', calls, 'requests', 'lambda_million_requests', MILLION),
    line('Lambda time', gbSeconds, 'GB-s', 'lambda_gb_second'),
    line('SQS', turns + 2 * invocations, 'requests', 'sqs_million_requests', MILLION),
    line('Logs', (calls * logBytesPerInvocation) / 1e9, 'GB', 'log_gb'),
    line('Wakes', guardsOf(workload, calls), 'calls', 'scheduler_million_calls', MILLION),
    database(steps, line),
  ];
}

/** One wake serves all invocations of its time. */
function guardsOf({ mode }: Workload, calls: number): number {
  const { hoursPerMonth, guardMinutes } = ASSUMPTIONS;
  return mode === 'economy' ? Math.min(calls, (hoursPerMonth * 60) / guardMinutes) : 0;
}

function awsIdle({ mode, minUnits }: Workload, line: Line): readonly CostLine[] {
  const sweeps = ASSUMPTIONS.sweepsPerMonth[mode];
  return [
    line('Sweeps, requests', sweeps, 'requests', 'lambda_million_requests', MILLION),
    line(
      'Sweeps, time',
      (sweeps * ASSUMPTIONS.sweepMs * ASSUMPTIONS.memoryGb) / 1000,
      'GB-s',
      'lambda_gb_second',
    ),
    line('Schedules', sweeps, 'calls', 'scheduler_million_calls', MILLION),
    line('Empty queues', ASSUMPTIONS.emptyReceivesPerMonth, 'requests', 'sqs_million_requests', MILLION),
    line('Alarms', ASSUMPTIONS.alarms, 'alarms', 'alarm_month'),
    line('Metrics', 1, 'metrics', 'metric_month'),
    idleDatabase(mode, minUnits, line),
  ];
}

function cloudflareWork(workload: Workload, line: Line): readonly CostLine[] {
  const { requestCpuMs, turnCpuMs } = ASSUMPTIONS;
  const { steps, turns, invocations } = volumeOf(workload);
  const cpuMs = steps * workload.cpuMs + turns * turnCpuMs + workload.runs * requestCpuMs;
  return [
    line('Workers requests', invocations + workload.runs, 'requests', 'workers_million_requests', MILLION),
    line('Workers CPU', cpuMs, 'ms', 'workers_million_cpu_ms', MILLION),
    line('Queues', 3 * turns, 'operations', 'queues_million_operations', MILLION),
    line(
      'Wakes',
      guardsOf(workload, invocations + workload.runs),
      'requests',
      'objects_million_requests',
      MILLION,
    ),
    database(steps, line),
  ];
}

function cloudflareIdle({ mode, minUnits }: Workload, line: Line): readonly CostLine[] {
  const sweeps = ASSUMPTIONS.sweepsPerMonth[mode];
  return [
    line('Plan', 1, 'months', 'workers_plan_month'),
    line('Sweeps', sweeps, 'requests', 'workers_million_requests', MILLION),
    idleDatabase(mode, minUnits, line),
  ];
}

function database(steps: number, line: Line): CostLine {
  const hours = steps / ASSUMPTIONS.stepsPerUnitSecond / 3600;
  return line('Database', hours, 'unit-hours', 'neon_unit_hour');
}

/** Each look wakes the database, which stays awake for a while: a look each minute never lets it sleep. */
function idleDatabase(mode: Workload['mode'], minUnits: number, line: Line): CostLine {
  const { sleepAfterMinutes, hoursPerMonth, sweepsPerMonth } = ASSUMPTIONS;
  const awake = Math.min(hoursPerMonth, (sweepsPerMonth[mode] * sleepAfterMinutes) / 60);
  return line('Database', awake * minUnits, 'unit-hours', 'neon_unit_hour');
}
