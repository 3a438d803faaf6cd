/**
 * Finding one text in another in linear time ([SEC-4]). The search of the runtime is fast but quadratic for long
 * patterns of a bad shape (a million of one letter with another in the middle takes minutes), so it is used for short
 * patterns only; the rest is the algorithm of Knuth, Morris and Pratt.
 */
const NATIVE_PATTERN_LENGTH_MAX = 16;

/** True when `pattern` stands anywhere in `text`. */
export function containsText(text: string, pattern: string): boolean {
  if (pattern.length <= NATIVE_PATTERN_LENGTH_MAX) return text.includes(pattern);
  return searchFrom(text, pattern, borders(pattern), 0) !== -1;
}

/** How often `pattern`, which is not empty, stands in `text` without overlaps. */
export function countText(text: string, pattern: string): number {
  if (pattern.length > NATIVE_PATTERN_LENGTH_MAX) return placesOf(text, pattern).length;
  let count = 0;
  let place = text.indexOf(pattern);
  while (place !== -1) {
    count += 1;
    place = text.indexOf(pattern, place + pattern.length);
  }
  return count;
}

/** The parts of `text` between the places of `pattern`, which is not empty. */
export function splitText(text: string, pattern: string): readonly string[] {
  if (pattern.length <= NATIVE_PATTERN_LENGTH_MAX) return text.split(pattern);
  const places = placesOf(text, pattern);
  const starts = [0, ...places.map((place) => place + pattern.length)];
  return starts.map((start, index) => text.slice(start, places[index]));
}

function placesOf(text: string, pattern: string): readonly number[] {
  const table = borders(pattern);
  const places: number[] = [];
  let place = searchFrom(text, pattern, table, 0);
  while (place !== -1) {
    places.push(place);
    place = searchFrom(text, pattern, table, place + pattern.length);
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
  while (length > 0 && pattern.charCodeAt(length) !== unit) length = Number(table[length]);
  return pattern.charCodeAt(length) === unit ? length + 1 : length;
}
