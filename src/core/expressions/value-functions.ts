import { canonicalJson, compareCodePoints, isJsonArray, isJsonObject, type Json } from '../json.ts';
import { argument, type FunctionEntries } from './expression-function.ts';
import { LIST_ELEMENTS_MAX, spend, spendOnSort, TEXT_BYTES_MAX, VALUE_LEVELS_MAX } from './limits.ts';
import { type Evaluation, selectByName } from './paths.ts';
import { containsText } from './text-search.ts';
import { canonicalSize, equals, lengthOf } from './values.ts';

export const VALUE_FUNCTIONS: FunctionEntries = [
  ['len', len],
  ['json', json],
  ['keys', keys],
  ['values', values],
  ['get', get],
  ['contains', contains],
  ['starts_with', startsWith],
  ['ends_with', endsWith],
  ['uuid', (_, { scope }) => scope.uuid()],
];

function len(args: readonly Json[], { meter }: Evaluation): Json {
  return lengthOf(argument(args, 0), meter);
}

/** Canonical JSON; null when it is longer than 4 MiB. */
function json(args: readonly Json[], { meter }: Evaluation): Json {
  const value = argument(args, 0);
  const size = canonicalSize(value, TEXT_BYTES_MAX, VALUE_LEVELS_MAX);
  return spend(meter, size ?? TEXT_BYTES_MAX) && size !== undefined ? canonicalJson(value) : null;
}

function keys(args: readonly Json[], evaluation: Evaluation): Json {
  return sortedKeys(argument(args, 0), evaluation);
}

function values(args: readonly Json[], evaluation: Evaluation): Json {
  const value = argument(args, 0);
  if (!isJsonObject(value)) return [];
  const names = sortedKeys(value, evaluation);
  return names.length > LIST_ELEMENTS_MAX ? null : names.map((name) => value[name] ?? null);
}

function sortedKeys(value: Json, { meter }: Evaluation): readonly string[] {
  if (!isJsonObject(value)) return [];
  const names = Object.keys(value);
  return spendOnSort(meter, names.length) ? names.sort(compareCodePoints) : [];
}

/** Walks a value by keys: a string is a member or an index, a number an index. */
function get(args: readonly Json[]): Json {
  let current: Json | undefined = argument(args, 0);
  for (const key of args.slice(1)) {
    if (current === undefined) return null;
    current = select(current, key);
  }
  return current ?? null;
}

function select(value: Json, key: Json): Json | undefined {
  if (typeof key === 'string') return selectByName(value, key);
  return typeof key === 'number' && isJsonArray(value) ? value[key] : undefined;
}

function contains(args: readonly Json[], { meter }: Evaluation): Json {
  const whole = argument(args, 0);
  const part = argument(args, 1);
  if (isJsonArray(whole)) return whole.some((element) => equals(element, part, meter));
  if (typeof whole !== 'string' || typeof part !== 'string') return false;
  return spend(meter, whole.length + part.length) && containsText(whole, part);
}

function startsWith(args: readonly Json[], { meter }: Evaluation): Json {
  const [text, prefix] = args;
  if (typeof text !== 'string' || typeof prefix !== 'string') return false;
  return spend(meter, prefix.length) && text.startsWith(prefix);
}

function endsWith(args: readonly Json[], { meter }: Evaluation): Json {
  const [text, suffix] = args;
  if (typeof text !== 'string' || typeof suffix !== 'string') return false;
  return spend(meter, suffix.length) && text.endsWith(suffix);
}
