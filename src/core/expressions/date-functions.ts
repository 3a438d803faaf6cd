import type { Json } from '../json.ts';
import { daysFromCivil, formatInstant, parseCivilTime, weekdayOfDays } from './civil-time.ts';
import { formatCivilTime } from './date-format.ts';
import { argument, type FunctionEntries } from './expression-function.ts';
import { spend, TEXT_BYTES_MAX } from './limits.ts';
import type { Evaluation } from './paths.ts';

export const DATE_FUNCTIONS: FunctionEntries = [
  ['now', (_, { scope }) => formatInstant(scope.now())],
  ['format_date', formatDate],
  ['day_of_week', dayOfWeek],
];

const DEFAULT_FORMAT = '%Y-%m-%d';

/** An instant in its own offset; null for anything that is no RFC 3339 date and time, or an unknown specifier. */
function formatDate(args: readonly Json[], { meter }: Evaluation): Json {
  const text = argument(args, 0);
  const format = args[1] ?? DEFAULT_FORMAT;
  if (typeof text !== 'string' || typeof format !== 'string') return null;
  if (!spend(meter, text.length + format.length)) return null;
  const time = parseCivilTime(text);
  return (time && formatCivilTime(time, format, TEXT_BYTES_MAX)) ?? null;
}

function dayOfWeek(args: readonly Json[], { meter }: Evaluation): Json {
  const text = argument(args, 0);
  if (typeof text !== 'string' || !spend(meter, text.length)) return null;
  const time = parseCivilTime(text);
  return time === undefined ? null : weekdayOfDays(daysFromCivil(time.year, time.month, time.day));
}
