/**
 * The Unicode property White_Space. The platform's own trim differs from it: it keeps U+0085 and takes away U+FEFF.
 */
const WHITE_SPACE: ReadonlySet<number> = new Set([
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
  0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
]);

/** `text` without white space on both sides. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.has(text.charCodeAt(start))) start += 1;
  while (end > start && WHITE_SPACE.has(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
