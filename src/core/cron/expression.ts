import { err, ok, type Result } from '../result.ts';
import { CRON_FIELDS, type CronFieldName, parseField } from './fields.ts';

/** A cron expression ([CRON-1]) as the values that each field allows, ascending. */
export interface CronExpression {
  readonly second: readonly number[];
  readonly minute: readonly number[];
  readonly hour: readonly number[];
  readonly dayOfMonth: ReadonlySet<number>;
  /** 1 to 12. */
  readonly month: ReadonlySet<number>;
  /** 0 = Sunday to 6 = Saturday. */
  readonly dayOfWeek: ReadonlySet<number>;
  /** null: every year. */
  readonly year: ReadonlySet<number> | null;
  /**
   * Both day fields are restricted: a day need fit only one of them, as in the standard crontab (DESIGN 8). A field that
   * contains `*` or `?` restricts nothing in this sense, so a `*` with a step narrows the days of the other field.
   */
  readonly eitherDay: boolean;
}

export interface CronProblem {
  readonly field: CronFieldName | null;
  readonly message: string;
}

const LONGEST_TEXT = 1_000;

/** The fields that an expression of so many parts has, in their order. */
const FIELDS_BY_COUNT: ReadonlyMap<number, readonly CronFieldName[]> = new Map([
  [5, ['minute', 'hour', 'day_of_month', 'month', 'day_of_week']],
  [6, ['second', 'minute', 'hour', 'day_of_month', 'month', 'day_of_week']],
  [7, ['second', 'minute', 'hour', 'day_of_month', 'month', 'day_of_week', 'year']],
]);

/** Reads 5 fields, 6 (seconds first) or 7 (and the year last); names the field that is wrong. */
export function parseCron(text: string): Result<CronExpression, CronProblem> {
  if (text.length > LONGEST_TEXT) {
    return err({ field: null, message: `must not exceed ${LONGEST_TEXT} characters` });
  }
  const parts = text.trim().split(/[ \t\r\n]+/);
  const names = FIELDS_BY_COUNT.get(parts.length);
  if (text.trim() === '' || names === undefined) {
    const count = text.trim() === '' ? 0 : parts.length;
    return err({ field: null, message: `must have 5, 6 or 7 fields, not ${count}` });
  }
  const values = new Map<CronFieldName, readonly number[]>();
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? '';
    const parsed = parseField(CRON_FIELDS[name], part);
    if (!parsed.ok) return err({ field: name, message: `${name} '${part}' ${parsed.error}` });
    values.set(name, parsed.value);
  }
  const of = (name: CronFieldName): readonly number[] => values.get(name) ?? [];
  const dayParts = [parts.at(names.indexOf('day_of_month')), parts.at(names.indexOf('day_of_week'))];
  return ok({
    second: values.get('second') ?? [0],
    minute: of('minute'),
    hour: of('hour'),
    dayOfMonth: new Set(of('day_of_month')),
    month: new Set(of('month')),
    dayOfWeek: new Set(of('day_of_week').map((day) => day % 7)),
    year: isEvery(parts[names.indexOf('year')]) ? null : new Set(of('year')),
    eitherDay: dayParts.every((part) => part !== undefined && !/[*?]/.test(part)),
  });
}

function isEvery(part: string | undefined): boolean {
  return part === undefined || part === '*';
}
