/** The bytes of an address, 4 or 16 of them. Classification works on bytes only: texts have too many spellings. */
export type IpBytes = readonly number[];

/**
 * Bytes of an IPv4 text in any notation that some resolver accepts: decimal, octal (`0177`), hexadecimal (`0x7f`),
 * with one to four parts of which the last one fills the rest. Null when the text is no such number.
 */
function parseLooseIpv4(text: string): IpBytes | null {
  const lastDot = text.lastIndexOf('.');
  const last = parseLooseNumber(text.slice(lastDot + 1));
  const leading = lastDot === -1 ? [] : text.slice(0, lastDot).split('.').map(parseLooseNumber);
  if (last === null || leading.length > 3) return null;
  const bytes: number[] = [];
  for (const number of leading) {
    if (number === null || number > 255) return null;
    bytes.push(number);
  }
  const restCount = 4 - bytes.length;
  if (last >= 256 ** restCount) return null;
  for (let index = restCount - 1; index >= 0; index -= 1) bytes.push(Math.floor(last / 256 ** index) % 256);
  return bytes;
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
function parseIpv6(text: string): IpBytes | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const gap = bare.indexOf('::');
  if (gap === -1) {
    const bytes = parseGroups(bare, true);
    return bytes !== null && bytes.length === 16 ? bytes : null;
  }
  const head = parseGroups(bare.slice(0, gap), false);
  const tail = parseGroups(bare.slice(gap + 2), true);
  // `::` stands for at least one group of two bytes.
  if (head === null || tail === null || head.length + tail.length > 14) return null;
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
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
