import { type IpBytes, parseIpLiteral } from './ip-address.ts';

/** [NET-2] IPv4 networks that outgoing requests must not reach: `[first address, prefix length]`. */
const BLOCKED_IPV4: ReadonlyArray<readonly [IpBytes, number]> = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  // Link-local, where the metadata services of clouds answer.
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  // Former 6to4 relays: not a place anybody serves from.
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 4],
  [[240, 0, 0, 0], 4],
];

/** Parts of the global unicast space 2000::/3 that are not public all the same. */
const BLOCKED_IPV6: ReadonlyArray<readonly [IpBytes, number]> = [
  // Protocol assignments: Teredo, benchmarking, ORCHID.
  [[0x20, 0x01, 0x00, 0x00], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x3f, 0xff, 0x00, 0x00], 20],
];

/** [NET-2] Networks whose addresses carry an IPv4 address, `[network, prefix length, offset of the IPv4 bytes]`. */
const EMBEDDING_IPV6: ReadonlyArray<readonly [IpBytes, number, number]> = [
  // ::ffff:0:0/96 mapped, ::/96 compatible, 64:ff9b::/96 NAT64, 2002::/16 6to4.
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, 12],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 96, 12],
  [[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, 12],
  [[0x20, 0x02], 16, 2],
];

/**
 * True when requests must not go to the address [NET-2]. The text may be any literal; what cannot be read as an address
 * is blocked too, so that an answer nobody understands is never connected to. Pure, the same on every platform.
 */
export function isBlockedAddress(text: string): boolean {
  const bytes = parseIpLiteral(text);
  return bytes === null || isBlockedIp(bytes);
}

/** True when the address is not a public one. */
export function isBlockedIp(bytes: IpBytes): boolean {
  if (bytes.length === 4) return BLOCKED_IPV4.some(([network, length]) => inNetwork(bytes, network, length));
  if (bytes.length !== 16) return true;
  for (const [network, length, offset] of EMBEDDING_IPV6) {
    // `::` and `::1` land here too: their IPv4 parts 0.0.0.0 and 0.0.0.1 are blocked.
    if (inNetwork(bytes, network, length)) return isBlockedIp(bytes.slice(offset, offset + 4));
  }
  // Outside 2000::/3 lie loopback, link-local, unique local, site-local, multicast, the local NAT64 prefix
  // 64:ff9b:1::/48 and space that is not assigned: nothing of it is a public service.
  if (!inNetwork(bytes, [0x20], 3)) return true;
  return BLOCKED_IPV6.some(([network, length]) => inNetwork(bytes, network, length));
}

/** True when the first `length` bits are those of `network`; bytes which `network` leaves out are zero. */
function inNetwork(bytes: IpBytes, network: IpBytes, length: number): boolean {
  for (let bit = 0; bit < length; bit += 8) {
    const mask = length - bit >= 8 ? 0xff : (0xff << (8 - (length - bit))) & 0xff;
    const index = bit / 8;
    if (((bytes[index] ?? 0) & mask) !== ((network[index] ?? 0) & mask)) return false;
  }
  return true;
}

/** What a URL's host is, after normalisation. */
export type HostKind = 'public_address' | 'blocked_address' | 'name' | 'blocked_name';

/**
 * Classifies a host as the URL parser gives it (lower case, punycode, brackets around IPv6) [NET-2]. Names that are
 * `localhost`, end in `.localhost` or `.internal`, or are no host names at all are blocked; other names still have to
 * be resolved and every address checked.
 */
export function classifyHost(host: string): HostKind {
  const bare = host.toLowerCase().replace(/\.$/, '');
  if (bare.startsWith('[') || bare.includes(':'))
    return isBlockedAddress(bare) ? 'blocked_address' : 'public_address';
  const literal = parseIpLiteral(bare);
  if (literal !== null) return isBlockedIp(literal) ? 'blocked_address' : 'public_address';
  return isBlockedName(bare) ? 'blocked_name' : 'name';
}

function isBlockedName(name: string): boolean {
  // Anything but these characters means that the name did not go through the URL parser, or is meant to confuse.
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)) return true;
  // A number as last label is an address to some resolver, even where the URL parser let it pass.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) return true;
  const labels = name.split('.');
  const last = labels.at(-1);
  return last === 'localhost' || last === 'internal';
}
