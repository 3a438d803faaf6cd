import { utf8Bytes } from './json.ts';

/** Text that the store takes: NUL and lone surrogates become U+FFFD, as bytes that are not UTF-8 do [HTTP-3]. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The longest beginning of the text that fits into `maxBytes` of UTF-8 and ends between two characters. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Longest text of a log line or of an error message in bytes. */
const MAX_LINE_BYTES = 8 * 1024;

/** A message for a failure or a log line, whoever wrote it: storable and at most 8 KiB. */
export function lineText(text: string): string {
  // Cutting first keeps the cost of cleaning bounded; a character takes at most three bytes per UTF-16 unit.
  return cutText(storableText(text.slice(0, MAX_LINE_BYTES)), MAX_LINE_BYTES);
}
