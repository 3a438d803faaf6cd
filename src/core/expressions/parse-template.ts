import { utf8Bytes } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { cachedByText } from './cache.ts';
import type { Fault } from './language-error.ts';
import { isIdentifier, trimBlanks, trimRange } from './lexical.ts';
import { CHAIN_BYTES_MAX, CHAIN_SEGMENTS_MAX, TEMPLATES_MAX } from './limits.ts';
import { parseFilter } from './parse-filter.ts';
import { literalValue, type Piece, parseTarget, unknownRoot } from './parse-target.ts';
import { endOfQuoted, isQuote, scanTemplates } from './scan-template.ts';
import type { Chain, Reading, Segment, TemplateText } from './template-syntax.ts';

/** A text with its templates, or the first fault. Results are kept by text. */
export const parseTemplate: (text: string) => Result<TemplateText, Fault> = cachedByText(parseText);

function parseText(text: string): Result<TemplateText, Fault> {
  const ranges = scanTemplates(text);
  // Checked before the chains are parsed: a long text could hold a million of them.
  if (ranges.length > TEMPLATES_MAX) return err({ message: `more than ${TEMPLATES_MAX} templates` });
  const parts: (string | Chain)[] = [];
  let done = 0;
  for (const { start, end } of ranges) {
    const chain = parseChain(text, start + 2, end - 2);
    if (!chain.ok) return chain;
    if (start === 0 && end === text.length) return ok({ kind: 'whole', chain: chain.value, chainCount: 1 });
    parts.push(text.slice(done, start), chain.value);
    done = end;
  }
  parts.push(text.slice(done));
  return ok({ kind: 'inline', parts, chainCount: ranges.length });
}

/** The chain between `start` and `end`. Its source must be a path or a call over one ([CHAIN-1]). */
function parseChain(text: string, start: number, end: number): Result<Chain, Fault> {
  const inner = text.slice(start, end);
  if (inner.length > CHAIN_BYTES_MAX || utf8Bytes(inner) > CHAIN_BYTES_MAX) {
    return err({ message: `template longer than ${CHAIN_BYTES_MAX} bytes`, position: start });
  }
  const [first, ...others] = splitChain(inner, start);
  if (others.length >= CHAIN_SEGMENTS_MAX) {
    return err({ message: `template with more than ${CHAIN_SEGMENTS_MAX} segments`, position: start });
  }
  const source = parseReading(first);
  const fault = unknownRoot(first);
  if (source === undefined) return err(fault);
  const segments: Segment[] = [];
  for (const piece of others) {
    const segment = parseSegment(piece);
    if (!segment.ok) return segment;
    segments.push(segment.value);
  }
  return ok({ source, unknownRoot: fault, segments });
}

/** Cuts a chain at `|` outside quotes and outside parentheses ([TPL-12]). */
function splitChain(inner: string, offset: number): readonly [Piece, ...Piece[]] {
  const pieces: Piece[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < inner.length; index += 1) {
    const char = inner.charAt(index);
    if (isQuote(char)) index = endOfQuoted(inner, index);
    else if (char === '(') depth += 1;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (char === '|' && depth === 0) {
      pieces.push(pieceOf(inner, start, index, offset));
      start = index + 1;
    }
  }
  const last = pieceOf(inner, start, inner.length, offset);
  const [first, ...others] = pieces;
  return first === undefined ? [last] : [first, ...others, last];
}

function pieceOf(inner: string, start: number, end: number, offset: number): Piece {
  const range = trimRange(inner, start, end);
  return { text: inner.slice(range.start, range.end), position: offset + range.start };
}

/** A segment after the first: a filter, a path or call, otherwise a literal ([CHAIN-5]). */
function parseSegment(piece: Piece): Result<Segment, Fault> {
  const filter = parseFilter(piece);
  if (!filter.ok) return filter;
  if (filter.value !== undefined)
    return ok({ kind: 'filter', filter: filter.value, position: piece.position });
  return ok(
    parseReading(piece) ?? {
      kind: 'literal',
      value: literalValue(piece.text),
      position: piece.position,
    },
  );
}

/** A path or a call over a path; undefined when no name in it can be a root. */
function parseReading({ text, position }: Piece): Reading | undefined {
  const literal = literalValue(text);
  const open = text.indexOf('(');
  if (text.endsWith(')') && isIdentifier(text.slice(0, Math.max(0, open)))) {
    const target = parseTarget({ text: trimBlanks(text.slice(open + 1, -1)), position });
    if (target !== undefined) {
      const name = text.slice(0, open);
      const via = name === 'json' || name === 'len' ? name : 'unknown';
      return { kind: 'reading', target, via, literal, position };
    }
  }
  const target = parseTarget({ text, position });
  return target && { kind: 'reading', target, via: 'value', literal, position };
}
