import type { Json } from '../json.ts';
import type { Evaluation } from './paths.ts';

/** A function of expressions. It answers null instead of failing; surplus arguments are ignored ([EVAL-9]). */
export type ExpressionFunction = (args: readonly Json[], evaluation: Evaluation) => Json;

/** Functions under their names. */
export type FunctionEntries = readonly (readonly [string, ExpressionFunction])[];

/** The argument at `index`; an absent one is null. */
export function argument(args: readonly Json[], index: number): Json {
  return args[index] ?? null;
}

/** A number as a result: null when it is not finite, 0 instead of -0 ([EVAL-6]). */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}
