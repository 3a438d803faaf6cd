import { isLocalDate } from '../definition/local-time.ts';
import type { Delay } from '../definition/document.ts';
import { parseCivilTime } from '../expressions/civil-time.ts';
import { daysFromCivil } from '../expressions/civil-time.ts';
import { type Json, isJsonArray } from '../json.ts';
import { toBusinessDay } from './business-days.ts';
import { MS_OF_DAY, instantOf, localMsAt } from './zone.ts';

export interface DelayInput {
  readonly delay: Delay;
  /** The instant at which the step's cursor was reached in this pass, epoch ms. */
  readonly base: number;
  /** Zone of the instance, used when the delay names none. */
  readonly timezone: string;
  /** `context.config.holidays`, whatever it is ([BIZ-1]). */
  readonly holidays: Json;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The instant at which a delay is over ([DELAY-1] to [DELAY-4]); never before its base. */
export function delayTarget({ delay, base, timezone, holidays, random }: DelayInput): number {
  const zone = delay.timezone ?? timezone;
  const asked =
    delay.fire_at_local === undefined ? base + delay.duration : localInstant(delay.fire_at_local, zone);
  const due = Math.max(base, asked);
  const target = delay.business_days_only
    ? onBusinessDay(due, zone, [...delay.holidays, ...dates(holidays)])
    : due;
  const jitter = delay.jitter ?? 0;
  if (jitter === 0) return target;
  const moved = target + Math.floor(random() * (2 * jitter + 1)) - jitter;
  return Math.max(base, delay.business_days_only ? onDateOf(moved, target, zone) : moved);
}

function onBusinessDay(instant: number, zone: string, holidays: readonly string[]): number {
  const local = localMsAt(instant, zone);
  const moved = toBusinessDay(local, new Set(holidays));
  return moved === local ? instant : instantOf(moved, zone);
}

/** [DELAY-4]: jitter never leaves the local date of the target. */
function onDateOf(instant: number, target: number, zone: string): number {
  const day = Math.floor(localMsAt(target, zone) / MS_OF_DAY);
  const first = instantOf(day * MS_OF_DAY, zone);
  const last = instantOf((day + 1) * MS_OF_DAY, zone) - 1;
  return Math.min(last, Math.max(first, instant));
}

/** `YYYY-MM-DDTHH:MM:SS`, checked at publish ([LIM-20]). */
function localInstant(text: string, zone: string): number {
  const time = parseCivilTime(`${text}Z`);
  if (time === undefined) return Number.NEGATIVE_INFINITY;
  const days = daysFromCivil(time.year, time.month, time.day);
  return instantOf(days * MS_OF_DAY + (time.hour * 3600 + time.minute * 60 + time.second) * 1000, zone);
}

/** Entries that are not dates are ignored ([BIZ-1]). */
function dates(holidays: Json): readonly string[] {
  if (!isJsonArray(holidays)) return [];
  return holidays.filter((entry) => typeof entry === 'string').filter(isLocalDate);
}
