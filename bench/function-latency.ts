import { systemClock } from '../src/adapters/system.ts';
import type { NeonLocal } from '../test/support/neon-local.ts';
import { createFunctionHost, type FunctionHost } from './function-host.ts';

export interface FunctionLatency {
  readonly mode: 'one step per invocation' | 'until the budget is used up';
  /** What each answer of the database waits for. */
  readonly addedLatencyMs: number;
  readonly roundTripsPerStep: number;
  readonly invocationsPerStep: number;
  /** Milliseconds per step, one entry per run. */
  readonly stepMs: readonly number[];
}

export interface LatencyPlan {
  readonly databaseUrl: string;
  readonly neon: NeonLocal;
  readonly runs: number;
  readonly steps: number;
}

const MODES = {
  'one step per invocation': { STEPWELL_MAX_STEPS_PER_INVOCATION: '1' },
  'until the budget is used up': {},
} as const;
const LATENCIES_MS = [0, 5, 20] as const;
/** Run code that has not been compiled yet, and load the definition, which a process keeps; not counted. */
const WARM_UP_RUNS = 3;

/** One instance of so many effectful steps at a time: from its first message until nothing of it is left in the queue. */
export async function functionLatency(plan: LatencyPlan): Promise<readonly FunctionLatency[]> {
  const rows: FunctionLatency[] = [];
  for (const mode of ['one step per invocation', 'until the budget is used up'] as const) {
    const host = createFunctionHost({ databaseUrl: plan.databaseUrl, environment: MODES[mode] });
    try {
      const sequenceId = await host.publish(plan.steps);
      for (let run = 0; run < WARM_UP_RUNS; run += 1) await runOnce(host, plan, sequenceId);
      for (const latencyMs of LATENCIES_MS)
        rows.push(await measure(host, plan, { mode, latencyMs, sequenceId }));
    } finally {
      plan.neon.setLatency(0);
      await host.close();
    }
  }
  return rows;
}

async function measure(
  host: FunctionHost,
  plan: LatencyPlan,
  { mode, latencyMs, sequenceId }: { mode: FunctionLatency['mode']; latencyMs: number; sequenceId: string },
): Promise<FunctionLatency> {
  plan.neon.setLatency(latencyMs);
  const seen: Awaited<ReturnType<typeof runOnce>>[] = [];
  for (let run = 0; run < plan.runs; run += 1) seen.push(await runOnce(host, plan, sequenceId));
  const perStep = (of: (run: (typeof seen)[number]) => number): number =>
    seen.reduce((sum, run) => sum + of(run), 0) / (plan.runs * plan.steps);
  return {
    mode,
    addedLatencyMs: latencyMs,
    roundTripsPerStep: perStep(({ roundTrips }) => roundTrips),
    invocationsPerStep: perStep(({ invocations }) => invocations),
    stepMs: seen.map(({ elapsedMs }) => elapsedMs / plan.steps),
  };
}

async function runOnce(host: FunctionHost, { neon, steps }: LatencyPlan, sequenceId: string) {
  await host.start(sequenceId);
  const [stepsBefore, tripsBefore] = [host.stepCount(), neon.requestCount()];
  const startedAt = systemClock.monotonicMs();
  const invocations = await host.drain();
  const elapsedMs = systemClock.monotonicMs() - startedAt;
  if (host.stepCount() - stepsBefore !== steps) throw new Error('the run did not call every step once');
  return { elapsedMs, invocations, roundTrips: neon.requestCount() - tripsBefore };
}
