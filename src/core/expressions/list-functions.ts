import { canonicalJson, compareCodePoints, isJsonArray, type Json } from '../json.ts';
import { argument, type FunctionEntries, finite } from './expression-function.ts';
import {
  ELEMENT_WORK,
  LIST_ELEMENTS_MAX,
  MEMBER_WORK,
  type Meter,
  spend,
  spendOnSort,
  VALUE_LEVELS_MAX,
} from './limits.ts';
import type { Evaluation } from './paths.ts';
import { canonicalSize, equals, numberOf } from './values.ts';

export const LIST_FUNCTIONS: FunctionEntries = [
  ['sum', sum],
  ['avg', avg],
  ['min', (args, { meter }) => extreme(args, meter, Math.min)],
  ['max', (args, { meter }) => extreme(args, meter, Math.max)],
  ['first', (args) => elements(args)?.[0] ?? null],
  ['last', (args) => elements(args)?.at(-1) ?? null],
  ['slice', slice],
  ['sort', sort],
  ['unique', unique],
  ['count', count],
];

/** The first argument when it is an array. */
function elements(args: readonly Json[]): readonly Json[] | undefined {
  const value = argument(args, 0);
  return isJsonArray(value) ? value : undefined;
}

/** The first argument when it is an array that the list functions take ([FUN-1]) and the meter can pay for. */
function boundedElements(args: readonly Json[], meter: Meter): readonly Json[] | undefined {
  const list = elements(args);
  if (list === undefined || list.length > LIST_ELEMENTS_MAX) return undefined;
  return spend(meter, list.length * ELEMENT_WORK) ? list : undefined;
}

/** The numbers of the elements; those without one are passed over. */
function numbers(args: readonly Json[], meter: Meter): readonly number[] | undefined {
  return boundedElements(args, meter)
    ?.map((element) => numberOf(element, meter))
    .filter((number) => number !== undefined);
}

function total(values: readonly number[]): number {
  return values.reduce((sofar, value) => sofar + value, 0);
}

function sum(args: readonly Json[], { meter }: Evaluation): Json {
  const values = numbers(args, meter);
  return values === undefined ? null : finite(total(values));
}

function avg(args: readonly Json[], { meter }: Evaluation): Json {
  const values = numbers(args, meter);
  return values === undefined ? null : finite(total(values) / values.length);
}

function extreme(args: readonly Json[], meter: Meter, pick: (a: number, b: number) => number): Json {
  const values = numbers(args, meter);
  const first = values?.[0];
  return values === undefined || first === undefined
    ? null
    : finite(values.reduce((a, b) => pick(a, b), first));
}

function slice(args: readonly Json[], { meter }: Evaluation): Json {
  const list = boundedElements(args, meter);
  if (list === undefined) return null;
  const from = bound(argument(args, 1), 0, meter);
  const to = bound(argument(args, 2), list.length, meter);
  return from === undefined || to === undefined ? null : list.slice(from, to);
}

/** A bound of `slice`: truncated, not below 0, the default when it is null, undefined when it is no number. */
function bound(value: Json, whenNull: number, meter: Meter): number | undefined {
  const number = value === null ? whenNull : numberOf(value, meter);
  return number === undefined ? undefined : Math.max(0, Math.trunc(number));
}

function sort(args: readonly Json[], { meter }: Evaluation): Json {
  const list = boundedElements(args, meter);
  if (list === undefined || !spendOnSort(meter, list.length)) return null;
  const direction = argument(args, 1) === 'desc' ? -1 : 1;
  return [...list].sort((a, b) => direction * totalOrder(a, b, meter));
}

/** null < booleans < numbers < strings < arrays < objects; equal inside the kinds that have no order (7.4). */
function totalOrder(a: Json, b: Json, meter: Meter): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') {
    return spend(meter, Math.min(a.length, b.length)) ? compareCodePoints(a, b) : 0;
  }
  return rank(a) - rank(b);
}

function rank(value: Json): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'string') return 3;
  return isJsonArray(value) ? 4 : 5;
}

function unique(args: readonly Json[], { meter }: Evaluation): Json {
  const list = boundedElements(args, meter);
  if (list === undefined) return null;
  const seen = new Set<string>();
  return list.filter((element) => {
    const size = canonicalSize(element, Math.max(0, meter.remaining), VALUE_LEVELS_MAX);
    if (!spend(meter, MEMBER_WORK + (size ?? Number.POSITIVE_INFINITY))) return false;
    const text = canonicalJson(element);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

/** Number of elements equal to the second argument; when that is absent, of nulls. */
function count(args: readonly Json[], { meter }: Evaluation): Json {
  const list = elements(args);
  if (list === undefined) return 0;
  if (list.length > LIST_ELEMENTS_MAX) return null;
  const sought = argument(args, 1);
  return list.filter((element) => equals(element, sought, meter)).length;
}
