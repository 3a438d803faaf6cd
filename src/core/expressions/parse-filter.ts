import { err, ok, type Result } from '../result.ts';
import type { Fault } from './language-error.ts';
import { isDigits, trimBlanks } from './lexical.ts';
import { literalValue, type Piece, parseTarget, quotedText } from './parse-target.ts';
import { endOfQuoted, isQuote } from './scan-template.ts';
import { type Filter, PLAIN_FILTERS, type PlainFilterName } from './template-syntax.ts';

type ArgumentFilterName = Exclude<Filter['name'], PlainFilterName>;

/** Filters that are written with parentheses. */
const ARGUMENT_FILTERS: ReadonlyMap<string, ArgumentFilterName> = new Map(
  (['replace', 'default', 'truncate', 'join', 'split', 'hash', 'round'] as const).map((name) => [name, name]),
);
const DECIMALS_MAX = 15;

/** All names of filters. */
export const FILTER_NAMES: readonly string[] = [...PLAIN_FILTERS.keys(), ...ARGUMENT_FILTERS.keys()];

/**
 * The filter a piece spells, undefined when it is none, or the fault of a filter with a wrong argument or without a
 * closing parenthesis ([FIL-1], [FIL-2]).
 */
export function parseFilter({ text, position }: Piece): Result<Filter | undefined, Fault> {
  const plain = PLAIN_FILTERS.get(text);
  if (plain !== undefined) return ok({ name: plain });
  const open = text.indexOf('(');
  const name = text.slice(0, Math.max(0, open));
  const known = ARGUMENT_FILTERS.get(name);
  if (known === undefined && !PLAIN_FILTERS.has(name)) return ok(undefined);
  if (!text.endsWith(')')) return err({ message: `filter "${name}" without closing parenthesis`, position });
  if (known === undefined) return ok(undefined);
  const filter = parseArguments(known, text.slice(open + 1, -1), position);
  return typeof filter === 'string' ? err({ message: `filter "${known}" ${filter}`, position }) : ok(filter);
}

/** The filter, or what is wrong with its arguments. */
function parseArguments(name: ArgumentFilterName, inner: string, position: number): Filter | string {
  switch (name) {
    case 'replace':
      return parseReplace(inner, position);
    case 'default':
      return { name, value: literalValue(trimBlanks(inner)) };
    case 'truncate':
      return parseTruncate(inner);
    case 'join':
    case 'split':
      return { name, separator: textArgument(inner) };
    case 'hash':
      return textArgument(inner) === 'sha256' ? { name } : 'knows only sha256';
    case 'round': {
      const digits = textArgument(inner);
      const decimals = isDigits(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
      return decimals <= DECIMALS_MAX ? { name, decimals } : `needs an integer from 0 to ${DECIMALS_MAX}`;
    }
  }
}

function parseReplace(inner: string, position: number): Filter | string {
  const [first, second] = cutAtComma(inner);
  if (second === undefined) return 'needs two arguments';
  const search = textArgument(first);
  if (search === '') return 'cannot replace the empty text';
  const text = trimBlanks(second);
  const quoted = quotedText(text);
  const target = quoted === undefined ? parseTarget({ text, position }) : undefined;
  return { name: 'replace', search, replacement: { target, text: quoted ?? text } };
}

function parseTruncate(inner: string): Filter | string {
  const [first, second] = cutAtComma(inner);
  const digits = textArgument(first);
  if (!isDigits(digits)) return 'needs a non-negative integer';
  return { name: 'truncate', count: Number(digits), suffix: textArgument(second ?? '') };
}

/** Quoted text loses its quotes; anything else is taken as it stands, trimmed. */
function textArgument(inner: string): string {
  const text = trimBlanks(inner);
  return quotedText(text) ?? text;
}

/** What stands before and after the first comma outside quotes. */
function cutAtComma(inner: string): readonly [string, string?] {
  for (let index = 0; index < inner.length; index += 1) {
    const char = inner.charAt(index);
    if (isQuote(char)) index = endOfQuoted(inner, index);
    else if (char === ',') return [inner.slice(0, index), inner.slice(index + 1)];
  }
  return [inner];
}
