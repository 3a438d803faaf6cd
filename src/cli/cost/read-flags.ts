import type { Advice } from '../../core/advice.ts';
import { didYouMean } from '../../core/definition/did-you-mean.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { readJsonFile } from '../read-json.ts';
import {
  type Arrival,
  ASSUMPTION_NAMES,
  ASSUMPTIONS,
  type AssumptionName,
  DEFAULTS,
  flagOf,
  type Host,
  type Workload,
} from './assumptions.ts';
import { isPriceName, type Price, PRICES, type PriceName, type Prices } from './prices.ts';

/** Most that a price may be, in dollars: beyond it the comma is wrong. */
const PRICE_MAX = 1e9;
const SEE_HELP = 'See `npx stepwell cost --help`.';

/** The flags as they were typed, by their names. */
export type Flags = Readonly<Record<string, unknown>>;

/** The workload without its place: the same for all that are compared. */
export type Given = Omit<Workload, 'host' | 'mode'>;

/** @param hosts Those that are estimated: a number that none of them has would be without effect. */
export function readWorkload(
  flags: Flags,
  {
    arrival,
    freeTiers,
    hosts,
  }: { readonly arrival: Arrival; readonly freeTiers: boolean; readonly hosts: readonly Host[] },
): Result<Given, Advice> {
  const numbers = { ...DEFAULTS };
  for (const name of ASSUMPTION_NAMES) {
    const said = flags[flagOf(name)];
    if (said === undefined) continue;
    const text = textOf(said);
    const value = numberOf(text, ASSUMPTIONS[name].range);
    if (value === null) return err(outOfRange(name, text));
    const { arrival: only } = ASSUMPTIONS[name];
    if (only !== undefined && only !== arrival) {
      return err({ message: `--${flagOf(name)} goes with --arrival ${only}`, next: SEE_HELP });
    }
    const { host } = ASSUMPTIONS[name];
    if (host !== undefined && !hosts.includes(host)) {
      return err({ message: `--${flagOf(name)} goes with --host ${host}`, next: SEE_HELP });
    }
    numbers[name] = value;
  }
  const perTurn = flags['steps-per-turn'];
  const stepsPerTurn = perTurn === undefined ? null : numberOf(textOf(perTurn), [1, 1e6]);
  if (perTurn !== undefined && stepsPerTurn === null) {
    return err({ message: '--steps-per-turn must be a number from 1 to 1,000,000', next: SEE_HELP });
  }
  // A database that is never small need not be said to be able to be large.
  const isLimited = flags['max-units'] !== undefined;
  if (isLimited && numbers.maxUnits < numbers.minUnits) {
    return err({ message: '--max-units must not be below --min-units', next: SEE_HELP });
  }
  const maxUnits = Math.max(numbers.maxUnits, numbers.minUnits);
  return ok({ ...numbers, maxUnits, arrival, freeTiers, stepsPerTurn });
}

/** `name=dollars` of --price, several with commas, over the object of --prices, over the list prices. */
export function readPrices(text: string, file: string | undefined): Result<Prices, Advice> {
  const fromFile = file === undefined ? ok([]) : readPriceFile(file);
  if (!fromFile.ok) return fromFile;
  const fromFlag = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return { name: name.trim(), value: value.join('=').trim(), said: part.trim() };
    });
  const prices: Record<PriceName, Price> = { ...PRICES };
  for (const { name, value, said } of [...fromFile.value, ...fromFlag]) {
    if (!isPriceName(name)) return err(unknownPrice(name));
    const dollars = numberOf(value, [0, PRICE_MAX]);
    if (dollars === null) {
      return err({ message: `${said} sets no price`, next: `Say ${name}=0.4, in dollars.` });
    }
    prices[name] = { ...prices[name], dollars, from: 'given', asOf: '' };
  }
  return ok(prices);
}

interface SaidPrice {
  readonly name: string;
  readonly value: string;
  readonly said: string;
}

function readPriceFile(path: string): Result<readonly SaidPrice[], Advice> {
  const json = readJsonFile(path);
  if (!json.ok) return json;
  if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value)) {
    return err({
      message: `${path} holds no prices`,
      next: 'It has to be an object of names and dollars: {"neon_unit_hour": 0.222}.',
    });
  }
  const said = Object.entries(json.value).map(([name, value]) => ({
    name,
    value: typeof value === 'number' ? String(value) : '',
    said: `${name} in ${path}`,
  }));
  return ok(said);
}

function unknownPrice(name: string): Advice {
  const names = Object.keys(PRICES);
  return {
    message: `${name} is not a price${didYouMean(name, names)}`,
    next: `The prices are ${names.join(', ')}.`,
  };
}

function outOfRange(name: AssumptionName, text: string): Advice {
  const { range: limits, unit } = ASSUMPTIONS[name];
  const [least, most] = limits;
  const range = `from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
  return {
    message: `--${flagOf(name)} must be a number ${range}${unit === '' ? '' : ` ${unit}`}, not ${text === '' ? 'nothing' : text}`,
    next: 'Digits only, with a point for fractions: 200000, 0.25, 2e5.',
  };
}

/** A flag without a value is a truth. */
function textOf(said: unknown): string {
  return typeof said === 'string' ? said : (JSON.stringify(said) ?? '');
}

/** null: not a number of the range. What JavaScript takes for a number besides (blanks, hexadecimal) is none here. */
function numberOf(text: string, [least, most]: readonly [number, number]): number | null {
  const value = /^[0-9.]+(e[+-]?[0-9]+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : null;
}
