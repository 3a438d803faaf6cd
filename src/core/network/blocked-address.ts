import { type IpBytes, parseIpLiteral } from './ip-address.ts';

/** The leading bits of a network as text: `10.0.0.0/8` is `00001010`. An address lies in it when its bits begin so. */
function network(bytes: IpBytes, length: number): string {
  return bitsOf(bytes).slice(0, length);
}

function bitsOf(bytes: IpBytes): string {
  return bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
}

/** [NET-2] IPv4 networks that outgoing requests must not reach. */
const BLOCKED_IPV4: readonly string[] = [
  network([0], 8),
  network([10], 8),
  network([100, 64], 10),
  network([127], 8),
  // Link-local, where the metadata services of clouds answer.
  network([169, 254], 16),
  network([172, 16], 12),
  network([192, 0, 0], 24),
  network([192, 0, 2], 24),
  // Former 6to4 relays: not a place anybody serves from.
  network([192, 88, 99], 24),
  network([192, 168], 16),
  network([198, 18], 15),
  network([198, 51, 100], 24),
  network([203, 0, 113], 24),
  // Multicast, and all above it up to the broadcast address.
  network([224], 4),
  network([240], 4),
];

/** 2000::/3. Outside lie loopback, link-local, unique local, site-local, multicast, local NAT64, and unassigned space. */
const GLOBAL_UNICAST = network([0x20], 3);

/** Parts of the global unicast space that are not public all the same. */
const BLOCKED_IPV6: readonly string[] = [
  // Protocol assignments: Teredo, benchmarking, ORCHID.
  network([0x20, 0x01, 0x00], 23),
  network([0x20, 0x01, 0x0d, 0xb8], 32),
  network([0x3f, 0xff, 0x00], 20),
];

/** [NET-2] IPv6 networks whose addresses carry an IPv4 address, which decides. `::` and `::1` are among them. */
const EMBEDDING_IPV6: ReadonlyArray<{ readonly network: string; readonly ipv4At: number }> = [
  // ::ffff:0:0/96 mapped, ::/96 compatible, 64:ff9b::/96 NAT64, 2002::/16 6to4.
  { network: network([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96), ipv4At: 96 },
  { network: network([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 96), ipv4At: 96 },
  { network: network([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96), ipv4At: 96 },
  { network: network([0x20, 0x02], 16), ipv4At: 16 },
];

/**
 * True when requests must not go to the address [NET-2]. The text may be any literal; what cannot be read as an address
 * is blocked too, so that an answer nobody understands is never connected to. Pure, the same on every platform.
 */
export function isBlockedAddress(text: string): boolean {
  const bytes = parseIpLiteral(text);
  return bytes === null || isBlockedIp(bytes);
}

function isBlockedIp(bytes: IpBytes): boolean {
  const bits = bitsOf(bytes);
  if (bytes.length === 4) return isBlockedIpv4(bits);
  const embedding = EMBEDDING_IPV6.find((candidate) => bits.startsWith(candidate.network));
  if (embedding !== undefined) return isBlockedIpv4(bits.slice(embedding.ipv4At, embedding.ipv4At + 32));
  return !bits.startsWith(GLOBAL_UNICAST) || BLOCKED_IPV6.some((blocked) => bits.startsWith(blocked));
}

function isBlockedIpv4(bits: string): boolean {
  return BLOCKED_IPV4.some((blocked) => bits.startsWith(blocked));
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
