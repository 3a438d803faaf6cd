import type { Json } from '../json.ts';
import { argument, type FunctionEntries, finite } from './expression-function.ts';
import type { Evaluation } from './paths.ts';
import { numberOf } from './values.ts';

export const NUMBER_FUNCTIONS: FunctionEntries = [
  ['abs', abs],
  ['random', random],
  ['change_pct', changePercent],
  ['clamp', clamp],
];

const RANDOM_MIN = 0;
const RANDOM_MAX = 100;

function abs(args: readonly Json[], { meter }: Evaluation): Json {
  const value = numberOf(argument(args, 0), meter);
  return value === undefined ? null : Math.abs(value);
}

/** An integer in [trunc(min), trunc(max)); the lower bound when that range is empty. */
function random(args: readonly Json[], { scope, meter }: Evaluation): Json {
  const low = Math.trunc(numberOf(argument(args, 0), meter) ?? RANDOM_MIN);
  const high = Math.trunc(numberOf(argument(args, 1), meter) ?? RANDOM_MAX);
  const drawn = low + Math.floor(scope.random() * (high - low));
  // Above 2^53 the sum can round up to the bound, which is not in the range.
  return finite(high > low && drawn < high ? drawn : low);
}

function changePercent(args: readonly Json[], { meter }: Evaluation): Json {
  const before = numberOf(argument(args, 0), meter);
  const after = numberOf(argument(args, 1), meter);
  if (before === undefined || after === undefined) return null;
  return finite(((after - before) / before) * 100);
}

/** Limits a number to a range. Without three numbers the first argument comes back as it is. */
function clamp(args: readonly Json[], { meter }: Evaluation): Json {
  const value = numberOf(argument(args, 0), meter);
  const low = numberOf(argument(args, 1), meter);
  const high = numberOf(argument(args, 2), meter);
  if (value === undefined || low === undefined || high === undefined) return argument(args, 0);
  return low > high ? null : finite(Math.min(Math.max(value, low), high));
}
