/**
 * Finding one text in another in linear time ([SEC-4]). The search of the runtime is fast but quadratic for long
 * patterns of a bad shape (a million of one letter with another in the middle takes minutes), so it is used for short
 * patterns only; the rest is the algorithm of Knuth, Morris and Pratt.
 */
const NATIVE_PATTERN_LENGTH_MAX = 16;

/** The index of the first `pattern` in `text` at or after `from`, or -1. */
export function indexOfText(text: string, pattern: string, from: number): number {
  if (pattern.length <= NATIVE_PATTERN_LENGTH_MAX) return text.indexOf(pattern, from);
  return searchFrom(text, pattern, borders(pattern), from);
}

/** Where `pattern`, which is not empty, stands in `text` without overlaps; at most `limit` places. */
export function placesOfText(text: string, pattern: string, limit: number): readonly number[] {
  const table = pattern.length > NATIVE_PATTERN_LENGTH_MAX ? borders(pattern) : undefined;
  const places: number[] = [];
  let from = 0;
  while (places.length < limit) {
    const place = table === undefined ? text.indexOf(pattern, from) : searchFrom(text, pattern, table, from);
    if (place === -1) break;
    places.push(place);
    from = place + pattern.length;
  }
  return places;
}

function searchFrom(text: string, pattern: string, table: Int32Array, from: number): number {
  let matched = 0;
  for (let index = from; index < text.length; index += 1) {
    matched = extend(pattern, table, matched, text.charCodeAt(index));
    if (matched === pattern.length) return index - matched + 1;
  }
  return -1;
}

/** For each length of a beginning of the pattern, the length of its longest proper border. */
function borders(pattern: string): Int32Array {
  const table = new Int32Array(pattern.length + 1);
  let matched = 0;
  for (let index = 1; index < pattern.length; index += 1) {
    matched = extend(pattern, table, matched, pattern.charCodeAt(index));
    table[index + 1] = matched;
  }
  return table;
}

/** How much of the pattern is matched after one more character. */
function extend(pattern: string, table: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && pattern.charCodeAt(length) !== unit) length = table[length] ?? 0;
  return pattern.charCodeAt(length) === unit ? length + 1 : length;
}
