export type Host = 'aws' | 'cloudflare';
export type Mode = 'steady' | 'economy';
/**
 * How runs come: all at once; at any time of the month, independently of each other; or so in the hours of business days only.
 */
export type Arrival = 'heap' | 'spread' | 'business-hours';

/** The user's word, counted in this code, measured (bench/README.md), documented by a provider, or a guess. */
export type AssumptionSource = 'yours' | 'code' | 'measured' | 'provider' | 'guess';

export interface Assumption {
  readonly range: readonly [least: number, most: number];
  /** Empty where the flag's name says it. */
  readonly unit: string;
  readonly about: string;
  readonly from: AssumptionSource;
  /** Where only one host has it. */
  readonly host?: Host;
  /** Where only one way of arriving has it. */
  readonly arrival?: Arrival;
}

/** Every number of the estimate. Each is a flag of `stepwell cost` under its name in kebab case. */
export const DEFAULTS = {
  runs: 200_000,
  steps: 5,
  stepMs: 50,
  cpuMs: 2,
  waits: 0,
  requests: 1,
  reads: 0,
  businessDays: 22,
  businessHours: 8,
  batch: 2,
  dbMs: 5,
  minUnits: 0.25,
  maxUnits: 1,
  unitSteps: 100,
  sleepMinutes: 5,
  stepKb: 2,
  keepDays: 30,
  stepWalKb: 3,
  historyDays: 1,
  memoryMb: 512,
  invocationSeconds: 60,
  engineMs: 2,
  turnMs: 6,
  requestMs: 8,
  sweepMs: 20,
  sweepTrips: 1,
  pollers: 5,
  pollSeconds: 20,
  alarms: 18,
  metrics: 2,
  logBytes: 400,
  workerLogBytes: 2000,
  wakerCalls: 3,
  wakerRows: 4,
};

export type AssumptionName = keyof typeof DEFAULTS;
export type Numbers = Readonly<Record<AssumptionName, number>>;

const MANY = 1e12;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export const ASSUMPTIONS: Readonly<Record<AssumptionName, Assumption>> = {
  runs: yours([0, MANY], 'a month', 'Runs a month'),
  steps: yours([0, 1e6], 'a run', 'Steps of a run'),
  stepMs: yours([0, HOUR_MS], '', 'Time a step waits for its handler'),
  cpuMs: {
    ...yours([0, HOUR_MS], '', 'Time a step computes; Workers are billed by it'),
    host: 'cloudflare',
  },
  waits: yours(
    [0, 10_000],
    'a run',
    'Waits of a run (sleeps, approvals, workers) in which the database could sleep',
  ),
  requests: yours([0, 10_000], 'a run', 'Requests to the API for a run, its start included'),
  reads: yours(
    [0, MANY],
    'a month',
    'Other requests that only read, as monitors make, spread over the month',
  ),
  businessDays: { ...yours([1, 31], 'a month', 'Days with runs'), arrival: 'business-hours' },
  businessHours: { ...yours([0.1, 24], 'a day', 'Hours of such a day with runs'), arrival: 'business-hours' },
  batch: guess([1, 10], '', 'Messages one invocation takes; their runs wait side by side'),
  dbMs: guess([0, MINUTE_MS], '', 'A round trip to the database'),
  minUnits: guess([0, 1000], 'CU', 'Compute units of the database while it is awake'),
  maxUnits: guess([0.25, 1000], 'CU', 'Compute units it grows to'),
  unitSteps: guess([1, 100_000], 'a second', 'Steps that one compute unit carries'),
  sleepMinutes: provider([0, 10_080], '', 'The database sleeps so long after its last statement'),
  stepKb: measured([0, 100_000], '', 'What a step takes in the database until retention removes it'),
  keepDays: yours([0, 36_500], '', 'Finished runs are kept'),
  stepWalKb: measured([0, 100_000], '', 'What a step adds to the history of the database'),
  historyDays: provider([0, 30], '', 'History of the database is kept'),
  memoryMb: { ...code([128, 10_240], '', 'Memory of a function'), host: 'aws' },
  invocationSeconds: code([10, 900], '', 'What an invocation takes at most'),
  engineMs: measured([0, MINUTE_MS], '', 'What the engine computes for a step'),
  turnMs: measured([0, MINUTE_MS], '', 'What it computes for a turn besides'),
  requestMs: measured([0, MINUTE_MS], '', 'What a request computes'),
  sweepMs: measured([0, MINUTE_MS], '', 'What a sweep computes'),
  sweepTrips: measured([0, 1000], '', 'Round trips of a sweep that finds nothing'),
  pollers: { ...provider([0, 1000], 'a queue', 'Pollers that ask a queue all the time'), host: 'aws' },
  pollSeconds: { ...provider([1, 20], '', 'How long each waits for a message'), host: 'aws' },
  alarms: { ...code([0, 1000], '', 'Metrics that alarms of the deployment look at'), host: 'aws' },
  metrics: { ...code([0, 1000], '', 'Metrics that are read from its logs'), host: 'aws' },
  logBytes: { ...guess([0, 1e6], '', 'Log of an invocation'), host: 'aws' },
  workerLogBytes: {
    ...guess([0, 1e6], '', 'Log of an invocation, with what the platform adds'),
    host: 'cloudflare',
  },
  wakerCalls: { ...code([0, 1000], 'a wake', 'Calls to the Durable Object for a wake'), host: 'cloudflare' },
  wakerRows: { ...code([0, 1000], 'a wake', 'Rows it writes'), host: 'cloudflare' },
};

export const ASSUMPTION_NAMES: readonly AssumptionName[] = Object.keys(DEFAULTS).filter(isAssumptionName);

/** What happens in a month, and what is assumed of the rest. */
export interface Workload extends Numbers {
  readonly host: Host;
  readonly mode: Mode;
  readonly arrival: Arrival;
  /** Steps that a turn runs before it goes back to the queue; null: as many as its time allows. */
  readonly stepsPerTurn: number | null;
  /** Leaves out what is free of charge or included in a plan. */
  readonly freeTiers: boolean;
}

/** `--step-ms` for `stepMs`. */
export function flagOf(name: AssumptionName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isAssumptionName(name: string): name is AssumptionName {
  return Object.hasOwn(DEFAULTS, name);
}

type Range = Assumption['range'];

function yours(range: Range, unit: string, about: string): Assumption {
  return { range, unit, about, from: 'yours' };
}

function code(range: Range, unit: string, about: string): Assumption {
  return { range, unit, about, from: 'code' };
}

function measured(range: Range, unit: string, about: string): Assumption {
  return { range, unit, about, from: 'measured' };
}

function provider(range: Range, unit: string, about: string): Assumption {
  return { range, unit, about, from: 'provider' };
}

function guess(range: Range, unit: string, about: string): Assumption {
  return { range, unit, about, from: 'guess' };
}
