import * as z from 'zod';
import { EXPECTED_ADDRESS, isAddress } from '../adapters/postgres/connection/address.ts';
import { parseDatabaseUrl } from './database-target.ts';

/**
 * The kinds of values that settings have. Environment and flags give text, the config file gives JSON values: each kind
 * takes both. The message of every issue is the noun phrase of what is expected, so that the caller can put the
 * setting's name before it.
 */
export function wholeNumber(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return z.preprocess(numberOfText, z.int({ error: expected }).min(min, expected).max(max, expected));
}

/** `1` and `true`, `0` and `false`, in any letter case; no other word switches anything on ([NET-6]). */
export function yesOrNo() {
  return z.preprocess(booleanOfText, z.boolean({ error: 'true, false, 1 or 0' }));
}

export function text(expected = 'a text that is not empty') {
  return z.preprocess(trimmed, z.string({ error: expected }).min(1, expected));
}

/** A text whose form is checked; the text itself may be a secret and is never shown. */
export function secretOf(expected: string, fits: (value: string) => boolean) {
  return z.preprocess(trimmed, z.string({ error: expected }).refine(fits, expected));
}

export function oneOf<const Value extends string>(values: readonly Value[]) {
  const expected = `one of ${values.join(', ')}`;
  return z.preprocess(lowerCased, z.enum(values, { error: expected }));
}

/** Comma-separated text, or a list in the config file. Blank entries are dropped. */
export function textList(expected: string, isEntry: (entry: string) => boolean) {
  return z.preprocess(
    listOfText,
    z.array(z.string({ error: expected }).refine(isEntry, expected), { error: expected }),
  );
}

/** `host:port`, `[v6]:port` or `:port`; port 0 lets the system choose. */
export function listenAddress() {
  const expected = 'an address to listen on such as 127.0.0.1:8080 or [::1]:8080';
  return z
    .preprocess(trimmed, z.string({ error: expected }))
    .transform((value, context) => parseAddress(value) ?? refuse(context, expected));
}

/** `postgres://…`, `pglite:<folder>` or `pglite:memory`. */
export function databaseUrl() {
  const expected = `${EXPECTED_ADDRESS}, pglite:<folder> or pglite:memory`;
  return z
    .preprocess(trimmed, z.string({ error: expected }))
    .transform((value, context) => parseDatabaseUrl(value) ?? refuse(context, expected));
}

/** `postgres://…`: the one kind of database that functions reach. */
export function databaseAddress() {
  return secretOf(EXPECTED_ADDRESS, isAddress);
}

/** JSON text, or the value itself in the config file. */
export function jsonOf<T extends z.ZodType>(schema: T, expected: string) {
  return z.preprocess(valueOfText, z.unknown()).transform((value, context): z.output<T> => {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : refuse(context, expected);
  });
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

function parseAddress(value: string): ListenAddress | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]*)):([0-9]{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return null;
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

function refuse(context: z.RefinementCtx, expected: string): never {
  context.addIssue({ code: 'custom', message: expected });
  return z.NEVER;
}

function valueOfText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function numberOfText(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?[0-9]+\s*$/.test(value) ? Number(value) : value;
}

function booleanOfText(value: unknown): unknown {
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (word === '1' || word === 'true') return true;
  return word === '0' || word === 'false' ? false : value;
}

function listOfText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

function lowerCased(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}
