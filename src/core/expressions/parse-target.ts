import type { Json } from '../json.ts';
import { type Fault, quoteText } from './language-error.ts';
import { isIdentifier, parseDecimal } from './lexical.ts';
import { rootedPath } from './paths.ts';
import type { Target } from './template-syntax.ts';

/** A trimmed piece of a text and where it begins there. */
export interface Piece {
  readonly text: string;
  readonly position: number;
}

/** The path a piece spells, or undefined when its first name can be no root. */
export function parseTarget({ text, position }: Piece): Target | undefined {
  const [name = '', ...segments] = text.split('.');
  const quoted = text.includes("'") || text.includes('"');
  const rooted = rootedPath([name, ...segments]);
  switch (rooted.kind) {
    case 'no_root':
      return !quoted && isIdentifier(name) ? { kind: 'item', name, segments } : undefined;
    case 'unknown_section':
      return broken(`unknown section of context in ${quoteText(text)}`, position);
    case 'path':
      if (quoted) return broken(`quotes in the path ${quoteText(text)}`, position);
      return { kind: 'path', path: rooted.path };
  }
}

function broken(message: string, position: number): Target {
  return { kind: 'broken', fault: { message, position } };
}

/** The fault of a chain whose source is not a path over a known root ([CHAIN-1]). */
export function unknownRoot({ text, position }: Piece): Fault {
  return { message: `unknown template root in ${quoteText(text)}`, position };
}

/** What a piece means when it is a literal: quoted text, number, keyword, otherwise itself ([CHAIN-5]). */
export function literalValue(text: string): Json {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  return quotedText(text) ?? parseDecimal(text) ?? text;
}

/** The text between quotes, or undefined when the whole is not one quoted text. */
export function quotedText(text: string): string | undefined {
  const quote = text.charAt(0);
  if (quote !== "'" && quote !== '"') return undefined;
  return text.indexOf(quote, 1) === text.length - 1 ? text.slice(1, -1) : undefined;
}
