import { DATE_FUNCTIONS } from './date-functions.ts';
import type { ExpressionFunction } from './expression-function.ts';
import { LIST_FUNCTIONS } from './list-functions.ts';
import { NUMBER_FUNCTIONS } from './number-functions.ts';
import { VALUE_FUNCTIONS } from './value-functions.ts';

/** The complete list of what an expression can call (expressions.md chapter 6, [SEC-2]). */
export const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
  ...VALUE_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...DATE_FUNCTIONS,
]);
