/** The roots whose paths are checked (http-api.md 4.2). */
export type ReferenceRoot = 'outputs' | 'data' | 'state' | 'config';

/** A path that a text names. */
export interface Reference {
  readonly root: ReferenceRoot;
  /** The names behind the root, indexes in brackets among them. */
  readonly segments: readonly string[];
  /** As it is written, with its root. */
  readonly text: string;
  /** A single `|` stands between the path and the end of its template. */
  readonly hasFallback: boolean;
}

const REFERENCE = /(?<![\p{L}\p{Nd}_.])(outputs|data|state|config)\.([\p{L}\p{Nd}_.[\]-]+)/gu;
const SINGLE_PIPE = /(?<!\|)\|(?!\|)/g;
const CLOSE = /\}\}/g;

/**
 * The references of a text, in its order and with repeats. A root counts at the beginning of a word only, so that
 * `metadata.user` and the long form `context.data.x` are none. Linear in the text.
 */
export function scanReferences(text: string): readonly Reference[] {
  const pipes = placesOf(text, SINGLE_PIPE);
  const closes = placesOf(text, CLOSE);
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [written, root, path = ''] = match;
    const segments = path.split(/[.[\]]+/).filter((segment) => segment !== '');
    if (!isRoot(root) || segments.length === 0) return [];
    const end = match.index + written.length;
    const close = closes.nextFrom(end);
    const hasFallback = close !== null && (pipes.nextFrom(end) ?? close) < close;
    return [{ root, segments, text: written, hasFallback }];
  });
}

function isRoot(word: string | undefined): word is ReferenceRoot {
  return word === 'outputs' || word === 'data' || word === 'state' || word === 'config';
}

/** Where a mark stands next, asked from left to right: each place is passed once. */
function placesOf(text: string, mark: RegExp): { nextFrom(index: number): number | null } {
  const places = text.matchAll(mark);
  let next = places.next();
  return {
    nextFrom: (index) => {
      while (next.done !== true && next.value.index < index) next = places.next();
      return next.done === true ? null : next.value.index;
    },
  };
}
