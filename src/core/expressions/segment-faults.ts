import { editDistance } from '../definition/did-you-mean.ts';
import { type Fault, quoteText } from './language-error.ts';
import { FILTER_NAMES } from './parse-filter.ts';
import { type Segment, UNKNOWN_FUNCTION } from './template-syntax.ts';

/** Names from this length on count as misspelt with two wrong letters, shorter ones with one. */
const LONG_NAME_LENGTH = 7;

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
    const filter = FILTER_NAMES.find((known) => isLike(known, bareName(segment)));
    if (filter !== undefined) {
      return [{ message: `no filter, but much like ${quoteText(filter)}`, position: segment.position }];
    }
    const dead = settledAt !== -1 && index > settledAt;
    return dead ? [{ message: 'a segment that never counts', position: segment.position }] : [];
  });
}

/** The word that could have been meant as the name of a filter. */
function bareName(segment: Exclude<Segment, { kind: 'filter' }>): string {
  if (segment.kind === 'reading') {
    const [name = '', ...rest] = segment.target.kind === 'item' ? segment.target.names : [];
    return rest.length === 0 ? name : '';
  }
  const text = typeof segment.value === 'string' ? segment.value : '';
  return text.endsWith(')') ? text.slice(0, Math.max(0, text.indexOf('('))) : '';
}

function isLike(known: string, name: string): boolean {
  const lengthDifference = Math.abs(known.length - name.length);
  const tolerated = known.length >= LONG_NAME_LENGTH ? 2 : 1;
  return lengthDifference <= tolerated && editDistance(known, name.toLowerCase()) <= tolerated;
}
