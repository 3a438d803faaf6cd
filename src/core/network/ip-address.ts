/** The bytes of an address, 4 or 16 of them. Classification works on bytes only: texts have too many spellings. */
export type IpBytes = readonly number[];

/**
 * Bytes of an IPv4 text in any notation that some resolver accepts: decimal, octal (`0177`), hexadecimal (`0x7f`),
 * with one to four parts of which the last one fills the rest. Null when the text is no such number.
 */
export function parseLooseIpv4(text: string): IpBytes | null {
  const parts = text.split('.');
  if (parts.length > 4) return null;
  const numbers: number[] = [];
  for (const part of parts) {
    const number = parseLooseNumber(part);
    if (number === null) return null;
    numbers.push(number);
  }
  const last = numbers.pop() ?? 0;
  const restBytes = 4 - numbers.length;
  if (numbers.some((number) => number > 255) || last >= 256 ** restBytes) return null;
  const rest: number[] = [];
  for (let index = restBytes - 1; index >= 0; index -= 1) rest.push(Math.floor(last / 256 ** index) % 256);
  return [...numbers, ...rest];
}

/** An unsigned number as `inet_aton` reads it: `0x` hexadecimal, leading `0` octal, else decimal. */
function parseLooseNumber(text: string): number | null {
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  return /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : null;
}

/** Bytes of a dotted IPv4 text with four plain decimal parts, as resolvers print it; else null. */
function parseDottedIpv4(text: string): IpBytes | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** Bytes of an IPv6 text, with or without brackets, a dotted tail allowed. A zone id makes it null: it names a link. */
export function parseIpv6(text: string): IpBytes | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const halves = bare.split('::');
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : [];
  if (head === null || tail === null) return null;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group; without it all sixteen bytes must be there.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return null;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

/** Bytes of colon-separated groups; the last one may be dotted IPv4 where `dottedTail` allows it. */
function parseGroups(text: string, dottedTail: boolean): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (dottedTail && index === groups.length - 1 && group.includes('.')) {
      const tail = parseDottedIpv4(group);
      if (tail === null) return null;
      bytes.push(...tail);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes;
}

/** Bytes of an address literal in any notation, IPv4 or IPv6; null when the text is a name (or nonsense). */
export function parseIpLiteral(text: string): IpBytes | null {
  return text.includes(':') ? parseIpv6(text) : parseLooseIpv4(text);
}
