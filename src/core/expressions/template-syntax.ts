import type { Json } from '../json.ts';
import type { Fault } from './language-error.ts';
import type { Path } from './paths.ts';

/** A text that is one template and nothing else, whose value keeps its type ([TPL-13]), or a text with templates. */
export type TemplateText =
  | { readonly kind: 'whole'; readonly chain: Chain; readonly chainCount: 1 }
  | { readonly kind: 'inline'; readonly parts: readonly (string | Chain)[]; readonly chainCount: number };

/** What stands between `{{` and `}}`: a source, then fallbacks and filters (expressions.md 2.3). */
export interface Chain {
  readonly source: Reading;
  /** What to report when the first name of the source is bound by no `for_each` either. */
  readonly unknownRoot: Fault;
  readonly segments: readonly Segment[];
}

export type Segment = Reading | LiteralSegment | FilterSegment;

export interface LiteralSegment {
  readonly kind: 'literal';
  readonly value: Json;
  readonly position: number;
}

export interface FilterSegment {
  readonly kind: 'filter';
  readonly filter: Filter;
  readonly position: number;
}

/** A path, or `json(path)` or `len(path)` over one. `unknown` is any other name before the parenthesis. */
export interface Reading {
  readonly kind: 'reading';
  readonly target: Target;
  readonly via: 'value' | 'json' | 'len' | 'unknown';
  /** What the segment means when its first name turns out to be no root ([CHAIN-5]). */
  readonly literal: Json;
  readonly position: number;
}

/**
 * Where a path leads. Whether the name of a `for_each` binding is a root is known only when the text is resolved, so
 * any identifier may be one. A `broken` path has a known root and is an error once it is reached.
 */
export type Target =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'item'; readonly name: string; readonly segments: readonly string[] }
  | { readonly kind: 'broken'; readonly fault: Fault };

export type Filter =
  | { readonly name: PlainFilterName }
  | { readonly name: 'replace'; readonly search: string; readonly replacement: Replacement }
  | { readonly name: 'default'; readonly value: Json }
  | { readonly name: 'truncate'; readonly count: number; readonly suffix: string }
  | { readonly name: 'join' | 'split'; readonly separator: string }
  | { readonly name: 'hash' }
  | { readonly name: 'round'; readonly decimals: number };

/** The second argument of `replace`: a text, or a path whose value is used as text when its root exists. */
export interface Replacement {
  readonly target: Target | undefined;
  readonly text: string;
}

/** The fault of a name before a parenthesis that is neither `json` nor `len`. */
export const UNKNOWN_FUNCTION = 'unknown template function';

/** Filters without arguments. */
export type PlainFilterName = 'upper' | 'lower' | 'trim' | 'abs' | 'url_encode' | 'base64' | 'base64_decode';

export const PLAIN_FILTERS: ReadonlyMap<string, PlainFilterName> = new Map(
  (['upper', 'lower', 'trim', 'abs', 'url_encode', 'base64', 'base64_decode'] as const).map((name) => [
    name,
    name,
  ]),
);
