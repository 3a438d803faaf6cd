import type { Workload } from './assumptions.ts';
import { HOURS } from './awake.ts';
import type { Usage } from './usage.ts';
import { stepsPerTurn } from './work.ts';

/** Above this share economy mode has hardly anything left to save. */
const HARDLY_SLEEPS = 0.9;

/** What makes an estimate doubtful, or a mode a bad choice. */
export function notesOn(workload: Workload, usage: Usage): readonly string[] {
  return [tooLong(workload), tooMuch(workload, usage), hardlySleeps(workload, usage)].filter(
    (note) => note !== null,
  );
}

function tooLong(workload: Workload): string | null {
  const { stepMs, invocationSeconds } = workload;
  if (stepMs <= invocationSeconds * 1000 || stepsPerTurn(workload) > 1) return null;
  return `A step of ${stepMs / 1000} s does not fit into an invocation of ${invocationSeconds} s. Give it to a worker (docs/sdk.md): then it is a wait, and costs no time of a function.`;
}

function tooMuch({ maxUnits }: Workload, { work, awake }: Usage): string | null {
  const needed = awake.loadHours === 0 ? 0 : work.unitHours / awake.loadHours;
  // A heap takes what the database gives; only the month is too short for it.
  if (needed <= maxUnits * 1.000_001) return null;
  return `The steps need ${needed.toPrecision(2)} compute units at a time, and --max-units is ${maxUnits}: they will be late.`;
}

function hardlySleeps({ mode }: Workload, { awake, work }: Usage): string | null {
  const share = awake.hours / HOURS;
  if (mode !== 'economy' || work.visits === 0 || share < HARDLY_SLEEPS) return null;
  const sleeps =
    share > 0.999 ? 'never sleeps' : `sleeps only ${((1 - share) * 100).toFixed(1)} % of the month`;
  return `The database ${sleeps}: runs that come so often keep it awake, and steady mode costs about the same.`;
}
