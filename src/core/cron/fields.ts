import { err, ok, type Result } from '../result.ts';

export type CronFieldName = 'second' | 'minute' | 'hour' | 'day_of_month' | 'month' | 'day_of_week' | 'year';

/** What a field of a cron expression may contain. */
export interface CronField {
  readonly least: number;
  readonly greatest: number;
  /** Names of the values from `least` on; the first three letters are enough, in any case. */
  readonly names: readonly string[];
  readonly mayBeOpen: boolean;
  /** Whether the greatest value is another name of the least, as 7 is of Sunday. */
  readonly wraps: boolean;
}

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const field = (least: number, greatest: number, extras: Partial<CronField> = {}): CronField => ({
  least,
  greatest,
  names: [],
  mayBeOpen: false,
  wraps: false,
  ...extras,
});

export const CRON_FIELDS: Readonly<Record<CronFieldName, CronField>> = {
  second: field(0, 59),
  minute: field(0, 59),
  hour: field(0, 23),
  day_of_month: field(1, 31, { mayBeOpen: true }),
  month: field(1, 12, { names: MONTHS }),
  // D17: as in the crontab, 0 and 7 are Sunday.
  day_of_week: field(0, 7, { names: WEEKDAYS, mayBeOpen: true, wraps: true }),
  year: field(1970, 2199),
};

/**
 * The values of one field, ascending and without repeats: lists of `*`, `n`, `n-m`, each with an optional `/step`; `n/step`
 * means `n-greatest/step`, and `?` in a day field means `*`. The error continues the text of the field.
 */
export function parseField(spec: CronField, text: string): Result<readonly number[], string> {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const parsed = parseItem(spec, item);
    if (!parsed.ok) return parsed;
    const { from, to, step } = parsed.value;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return ok([...values].sort((a, b) => a - b));
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

function parseItem(spec: CronField, item: string): Result<Stretch, string> {
  const [range = '', stepText, ...more] = item.split('/');
  if (more.length > 0) return err('has two steps in one part');
  const step = stepText === undefined ? 1 : readNumber(stepText);
  if (step === null || step < 1 || step > sizeOf(spec)) {
    return err(`has a step that is not a whole number from 1 to ${sizeOf(spec)}`);
  }
  // The second name of Sunday would make it come twice in a stretch over all days.
  const whole = { from: spec.least, to: spec.wraps ? spec.greatest - 1 : spec.greatest, step };
  if (range === '*' || (range === '?' && spec.mayBeOpen)) return ok(whole);
  const [fromText = '', toText, ...others] = range.split('-');
  const from = readValue(spec, fromText);
  if (others.length > 0 || from === null) return err(expected(spec));
  if (toText === undefined) return ok({ from, to: stepText === undefined ? from : whole.to, step });
  const to = readValue(spec, toText);
  if (to === null) return err(expected(spec));
  // A week may be said to end on Sunday: `FRI-SUN`.
  const end = spec.wraps && to === spec.least && from > to ? spec.greatest : to;
  return end < from ? err('has a range that goes backwards') : ok({ from, to: end, step });
}

function sizeOf(spec: CronField): number {
  return spec.greatest - spec.least + (spec.wraps ? 0 : 1);
}

function expected(spec: CronField): string {
  const numbers = `numbers from ${spec.least} to ${spec.greatest}`;
  return `is not made of ${spec.names.length > 0 ? `${numbers} or names` : numbers}`;
}

function readValue(spec: CronField, text: string): number | null {
  const named = readName(spec, text.toLowerCase());
  const value = named ?? readNumber(text);
  return value === null || value < spec.least || value > spec.greatest ? null : value;
}

function readName(spec: CronField, text: string): number | null {
  const index = spec.names.findIndex((name) => name === text || name.slice(0, 3) === text);
  return index < 0 ? null : spec.least + index;
}

function readNumber(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null;
}
