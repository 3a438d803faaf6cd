/**
 * UTF-8 by hand: the platform's encoders are not part of the core's types. Lone surrogates are written as U+FFFD, and
 * so is every maximal piece of invalid input that is read.
 */
const REPLACEMENT = 0xfffd;
/** Code units per call of `fromCharCode`, well below the number of arguments that engines take. */
const CHUNK_LENGTH = 4_096;

/** The UTF-8 bytes of a text. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (const char of text) {
    const point = scalarOf(char);
    if (point < 0x80) {
      bytes[length++] = point;
      continue;
    }
    if (point < 0x800) bytes[length++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[length++] = 0xe0 | (point >> 12);
      else {
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (point & 0x3f);
  }
  return bytes.subarray(0, length);
}

/** The code point of a character, U+FFFD for a lone surrogate. */
function scalarOf(char: string): number {
  const point = Number(char.codePointAt(0));
  return point >= 0xd800 && point < 0xe000 ? REPLACEMENT : point;
}

/** The text of UTF-8 bytes. A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string {
  const parts: string[] = [];
  const units: number[] = [];
  let index = 0;
  while (index < bytes.length) {
    const { point, length } = pointAt(bytes, index);
    index += length;
    if (point < 0x10000) units.push(point);
    else units.push(0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
    if (units.length < CHUNK_LENGTH) continue;
    parts.push(String.fromCharCode(...units));
    units.length = 0;
  }
  return parts.join('') + String.fromCharCode(...units);
}

/** The code point at `index` and how many bytes it takes; an invalid beginning takes as many as fit the pattern. */
function pointAt(bytes: Uint8Array, index: number): { point: number; length: number } {
  const lead = Number(bytes[index]);
  if (lead < 0x80) return { point: lead, length: 1 };
  const count = continuationCount(lead);
  let point = lead & (0x3f >> count);
  for (let offset = 1; offset <= count; offset += 1) {
    const byte = bytes[index + offset] ?? 0;
    const { low, high } = offset === 1 ? secondByteRange(lead) : { low: 0x80, high: 0xbf };
    if (byte < low || byte > high) return { point: REPLACEMENT, length: offset };
    point = (point << 6) | (byte & 0x3f);
  }
  return { point: count === 0 ? REPLACEMENT : point, length: count + 1 };
}

function continuationCount(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  return lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
}

/** Rules out overlong forms, surrogates and points above U+10FFFF. */
function secondByteRange(lead: number): { low: number; high: number } {
  switch (lead) {
    case 0xe0:
      return { low: 0xa0, high: 0xbf };
    case 0xed:
      return { low: 0x80, high: 0x9f };
    case 0xf0:
      return { low: 0x90, high: 0xbf };
    case 0xf4:
      return { low: 0x80, high: 0x8f };
    default:
      return { low: 0x80, high: 0xbf };
  }
}
