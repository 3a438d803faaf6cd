import { type CivilTime, civilFromDays, daysFromCivil, pad, weekdayOfDays } from './civil-time.ts';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const ABBREVIATION_LENGTH = 3;

/**
 * A time by a format of `%` specifiers ([FUN-2]), or undefined for an unknown specifier and for a result of more than
 * `lengthMax` characters.
 */
export function formatCivilTime(time: CivilTime, format: string, lengthMax: number): string | undefined {
  const parts: string[] = [];
  let length = format.length;
  let done = 0;
  let percent = format.indexOf('%');
  while (percent !== -1) {
    const specifier = specifierAt(format, percent + 1);
    const field = dateField(time, specifier) ?? clockField(time, specifier);
    if (field === undefined) return undefined;
    parts.push(format.slice(done, percent), field);
    done = percent + 1 + specifier.length;
    length += field.length - 1 - specifier.length;
    percent = format.indexOf('%', done);
  }
  return length > lengthMax ? undefined : parts.join('') + format.slice(done);
}

/** Two specifiers have two characters; the rest have one. */
function specifierAt(format: string, index: number): string {
  const pair = format.slice(index, index + 2);
  return pair === '3f' || pair === ':z' ? pair : format.charAt(index);
}

function dateField(time: CivilTime, specifier: string): string | undefined {
  const { year, month, day } = time;
  switch (specifier) {
    case 'Y':
      return pad(year, 4);
    case 'y':
      return pad(year % 100, 2);
    case 'm':
      return pad(month, 2);
    case 'd':
      return pad(day, 2);
    case 'e':
      return String(day).padStart(2, ' ');
    case 'F':
      return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
    case 'B':
      return MONTHS[month - 1];
    case 'b':
      return MONTHS[month - 1]?.slice(0, ABBREVIATION_LENGTH);
    default:
      return dayField(year, daysFromCivil(year, month, day), specifier);
  }
}

/** Fields that count days: of the year, the week or the ISO year. */
function dayField(year: number, days: number, specifier: string): string | undefined {
  const weekday = weekdayOfDays(days);
  switch (specifier) {
    case 'j':
      return pad(days - daysFromCivil(year, 1, 1) + 1, 3);
    case 'A':
      return WEEKDAYS[weekday];
    case 'a':
      return WEEKDAYS[weekday]?.slice(0, ABBREVIATION_LENGTH);
    case 'u':
      return String(weekday + 1);
    case 'w':
      return String((weekday + 1) % 7);
    case 'G':
      return pad(isoYear(days), 4);
    case 'V':
      return pad(Math.floor((thursdayOf(days) - daysFromCivil(isoYear(days), 1, 1)) / 7) + 1, 2);
    default:
      return undefined;
  }
}

/** An ISO week belongs to the year of its Thursday. */
function thursdayOf(days: number): number {
  return days - weekdayOfDays(days) + 3;
}

function isoYear(days: number): number {
  return civilFromDays(thursdayOf(days)).year;
}

function clockField(time: CivilTime, specifier: string): string | undefined {
  const { hour, minute, second } = time;
  switch (specifier) {
    case 'H':
      return pad(hour, 2);
    case 'I':
      return pad(hour % 12 === 0 ? 12 : hour % 12, 2);
    case 'M':
      return pad(minute, 2);
    case 'S':
      return pad(second, 2);
    case '3f':
      return pad(time.millisecond, 3);
    case 'p':
      return hour < 12 ? 'AM' : 'PM';
    case 'T':
      return `${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}`;
    case 'R':
      return `${pad(hour, 2)}:${pad(minute, 2)}`;
    case 's':
      return String(epochSeconds(time));
    case 'z':
      return offset(time.offsetMinutes, '');
    case ':z':
      return offset(time.offsetMinutes, ':');
    case '%':
      return '%';
    default:
      return undefined;
  }
}

function epochSeconds(time: CivilTime): number {
  const days = daysFromCivil(time.year, time.month, time.day);
  const minutes = days * 1_440 + time.hour * 60 + time.minute - time.offsetMinutes;
  return minutes * 60 + time.second;
}

function offset(minutes: number, separator: string): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60), 2)}${separator}${pad(size % 60, 2)}`;
}
