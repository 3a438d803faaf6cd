import { RESERVE_MS } from '../../engine/turn-budget.ts';
import type { Workload } from './assumptions.ts';

/** What is done in a month, whatever the host. Durations in ms, of all runs together. */
export interface Work {
  readonly steps: number;
  readonly turns: number;
  /** Invocations of the queue's consumer. */
  readonly invocations: number;
  /** Requests to the API. */
  readonly requests: number;
  /** Times at which something is asked of the database after a pause: the start of a run, and the end of each of its waits. */
  readonly visits: number;
  /** Steps and turns one after the other, without the time that they wait in the queue. */
  readonly turnsMs: number;
  readonly requestsMs: number;
  /** What an unhurried database takes for the steps, in hours of one compute unit. */
  readonly unitHours: number;
}

export function workOf(workload: Workload): Work {
  const { runs, waits, batch, dbMs, engineMs, stepMs, turnMs, requestMs, unitSteps } = workload;
  const steps = runs * workload.steps;
  // A run has a turn also when it has no steps, and each wait ends one.
  const turns = runs * (Math.max(1, Math.ceil(workload.steps / stepsPerTurn(workload))) + waits);
  const requests = runs * workload.requests + workload.reads;
  return {
    steps,
    turns,
    invocations: turns / batch,
    requests,
    visits: runs * (1 + waits),
    turnsMs: steps * (stepMs + dbMs + engineMs) + turns * (dbMs + turnMs),
    // Who it is, and what is asked for.
    requestsMs: requests * (2 * dbMs + requestMs),
    unitHours: steps / unitSteps / 3600,
  };
}

/** What the user says, or as many as the time of an invocation allows. */
export function stepsPerTurn({
  stepsPerTurn: said,
  steps,
  stepMs,
  dbMs,
  engineMs,
  invocationSeconds,
}: Workload): number {
  const fit = Math.floor((invocationSeconds * 1000 - RESERVE_MS) / Math.max(1, stepMs + dbMs + engineMs));
  return Math.max(1, Math.min(fit, said ?? Math.max(1, steps)));
}

/** What a sweep takes. */
export function sweepDurationMs({ sweepTrips, dbMs, sweepMs }: Workload): number {
  return sweepTrips * dbMs + sweepMs;
}
