import { nearestName } from '../definition/did-you-mean.ts';
import { type Fault, quoteText } from './language-error.ts';
import { FILTER_NAMES } from './parse-filter.ts';
import { type Segment, UNKNOWN_FUNCTION } from './template-syntax.ts';

/** Shorter words are near to too many names. */
const NEAR_NAME_LENGTH_MIN = 5;

/** What makes a path or call an error as soon as it is reached. */
export function readingFaults(segment: Segment): readonly Fault[] {
  if (segment.kind !== 'reading') return [];
  const { target, via, position } = segment;
  if (target.kind === 'broken') return [target.fault];
  return via === 'unknown' && target.kind === 'path' ? [{ message: UNKNOWN_FUNCTION, position }] : [];
}

/**
 * What is doubtful in the segments of a chain that parses. A misspelt filter without arguments is a bare word
 * ([CHAIN-5]), and a segment behind a literal or a filter that is no filter never counts ([CHAIN-4]).
 */
export function segmentFaults(segments: readonly Segment[]): readonly Fault[] {
  const settledAt = segments.findIndex((segment) => segment.kind !== 'reading');
  return segments.flatMap((segment, index) => {
    if (segment.kind === 'filter') return [];
    const { position } = segment;
    const name = bareName(segment);
    const filter = filterLike(name);
    if (filter !== undefined) return [{ message: notTheFilter(name, filter), position }];
    const dead = settledAt !== -1 && index > settledAt;
    return dead ? [{ message: 'a segment that is no filter and never counts', position }] : [];
  });
}

/** The word that could have been meant as the name of a filter. */
function bareName(segment: Exclude<Segment, { kind: 'filter' }>): string {
  if (segment.kind === 'reading') {
    const { target, via } = segment;
    return via === 'value' && target.kind === 'item' && target.segments.length === 0 ? target.name : '';
  }
  const text = typeof segment.value === 'string' ? segment.value : '';
  return text.endsWith(')') ? text.slice(0, Math.max(0, text.indexOf('('))) : '';
}

/** The filter whose name a word is, or could have been meant to be. */
function filterLike(word: string): string | undefined {
  const name = word.toLowerCase();
  if (FILTER_NAMES.includes(name)) return name;
  return name.length < NEAR_NAME_LENGTH_MIN ? undefined : nearestName(name, FILTER_NAMES);
}

function notTheFilter(name: string, filter: string): string {
  return `${quoteText(name)} is read as text and not as the filter ${quoteText(filter)}; quote it if text is meant`;
}
