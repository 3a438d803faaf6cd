import type { Workload } from './assumptions.ts';
import { type Awake, awakeOf, HOURS, scheduledSweeps, wakesOf } from './awake.ts';
import type { PriceName } from './prices.ts';
import { sweepDurationMs, type Work, workOf } from './work.ts';

/** Something that is billed in a month, in the units of its price. */
export interface Use {
  readonly what: string;
  readonly group: UseGroup;
  readonly price: PriceName;
  readonly amount: number;
}

export type UseGroup = 'functions' | 'queue' | 'wakes' | 'watching' | 'database';

export interface Usage {
  readonly uses: readonly Use[];
  readonly awake: Awake;
  readonly work: Work;
}

const QUEUES = 2;
const SECONDS = HOURS * 3600;
const DAYS = HOURS / 24;
/** Memory that a Durable Object is billed with. */
const OBJECT_GB = 0.128;

/** All that a month uses; without runs and readers it is an idle month. */
export function usageOf(workload: Workload): Usage {
  const work = workOf(workload);
  const awake = awakeOf(workload, work);
  const wakes = wakesOf(workload, work);
  const ofHost =
    workload.host === 'aws' ? awsUses(workload, work, wakes) : cloudflareUses(workload, work, wakes);
  return {
    work,
    awake,
    uses: [...ofHost, ...databaseUses(workload, work, awake)],
  };
}

/** The instances of a batch wait side by side and share its time. Function URLs cost nothing on top of their functions. */
function awsUses(workload: Workload, work: Work, wakes: number): readonly Use[] {
  const sweeps = scheduledSweeps(workload) + wakes;
  const calls = work.invocations + work.requests + sweeps;
  const ms = work.turnsMs / workload.batch + work.requestsMs + sweeps * sweepDurationMs(workload);
  // Each message is sent; each batch is received and deleted.
  const messages = work.turns + 2 * work.invocations;
  const empty = (QUEUES * workload.pollers * SECONDS) / workload.pollSeconds;
  return [
    use('functions', 'Lambda requests', 'lambda_million_requests', calls),
    use('functions', 'Lambda time', 'lambda_million_gb_seconds', ((workload.memoryMb / 1024) * ms) / 1000),
    use('queue', 'SQS messages', 'sqs_million_requests', messages),
    use('queue', 'SQS fair queues', 'sqs_million_fair_requests', messages),
    use('queue', 'SQS empty receives', 'sqs_million_requests', empty),
    use('wakes', 'Sweeps and wakes', 'scheduler_million_calls', sweeps),
    use('watching', 'Logs', 'log_gb', (calls * workload.logBytes) / 1e9),
    use('watching', 'Alarms', 'alarm_month', workload.alarms),
    use('watching', 'Metrics', 'metric_month', workload.metrics),
  ];
}

/** A message is written, read and deleted. Waiting costs nothing on Workers; the Durable Object of economy mode is billed by time. */
function cloudflareUses(workload: Workload, work: Work, wakes: number): readonly Use[] {
  const sweeps = scheduledSweeps(workload);
  const calls = work.invocations + work.requests + sweeps;
  const cpuMs =
    work.steps * (workload.cpuMs + workload.engineMs) +
    work.turns * workload.turnMs +
    work.requests * workload.requestMs +
    sweeps * workload.sweepMs;
  const wakeSeconds = (wakes * sweepDurationMs(workload)) / 1000;
  return [
    use('functions', 'Workers Paid plan', 'workers_plan_month', 1),
    use('functions', 'Workers requests', 'workers_million_requests', calls),
    use('functions', 'Workers CPU', 'workers_million_cpu_ms', cpuMs),
    use('queue', 'Queue operations', 'queues_million_operations', 3 * work.turns),
    use('wakes', 'Waker, calls', 'objects_million_requests', wakes * (1 + workload.wakerCalls)),
    use('wakes', 'Waker, time', 'objects_million_gb_seconds', OBJECT_GB * wakeSeconds),
    use('wakes', 'Waker, rows', 'objects_million_rows', wakes * workload.wakerRows),
    use('watching', 'Logs', 'workers_log_gb', ((calls + wakes) * workload.workerLogBytes) / 1e9),
  ];
}

function databaseUses(workload: Workload, work: Work, awake: Awake): readonly Use[] {
  const { minUnits, stepKb, keepDays, stepWalKb, historyDays } = workload;
  const stepsPerDay = work.steps / DAYS;
  // Kilobytes to gigabytes.
  const ofDays = (kb: number, days: number): number => (stepsPerDay * days * kb) / 1e6;
  const hours = awake.hours * minUnits + unitHoursOnTop(workload, work, awake);
  return [
    use('database', 'Database, compute', 'neon_unit_hour', hours),
    use('database', 'Database, storage', 'neon_storage_gb', ofDays(stepKb, keepDays)),
    use('database', 'Database, history', 'neon_history_gb', ofDays(stepWalKb, historyDays)),
  ];
}

/** What the work needs beyond the least size: it grows with its load, and shrinks again. */
function unitHoursOnTop({ minUnits }: Workload, { unitHours }: Work, { loadHours }: Awake): number {
  return Math.max(0, unitHours - loadHours * minUnits);
}

function use(group: UseGroup, what: string, price: PriceName, amount: number): Use {
  return { what, group, price, amount };
}
