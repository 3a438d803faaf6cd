import { type IpBytes, parseIpLiteral } from './ip-address.ts';

interface Network {
  readonly bytes: IpBytes;
  readonly bits: number;
}

/** Whether a text names an address, or a network as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== null;
}

/**
 * Tells who has asked where proxies stand before the host. Each proxy adds the address it was asked from at the end of
 * `x-forwarded-for`, and a caller may have written anything before that: so the last address counts that is not a trusted one.
 * Without trusted networks nothing forwarded is believed. Texts that are no networks trust nobody.
 *
 * @param trusted Addresses and networks of proxies.
 */
export function createPeerFinder(
  trusted: readonly string[],
): (peer: string, forwardedFor: string | null) => string {
  const networks = trusted.flatMap((text) => parseNetwork(text) ?? []);
  const isTrusted = (address: string): boolean => {
    const bytes = addressBytes(address);
    return bytes !== null && networks.some((network) => holds(network, bytes));
  };
  return (peer, forwardedFor) => {
    if (networks.length === 0 || forwardedFor === null) return peer;
    let found = peer;
    for (const entry of forwardedFor.split(',').toReversed()) {
      const address = entry.trim();
      if (!isTrusted(found) || addressBytes(address) === null) return found;
      found = address;
    }
    return found;
  };
}

function parseNetwork(text: string): Network | null {
  const [address = '', length, ...rest] = text.split('/');
  const bytes = addressBytes(address);
  if (bytes === null || rest.length > 0) return null;
  const most = bytes.length * 8;
  if (length === undefined) return { bytes, bits: most };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : most + 1;
  return bits > most ? null : { bytes, bits };
}

function holds({ bytes, bits }: Network, address: IpBytes): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const counted = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - counted)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}

/** An IPv4 address that came over an IPv6 socket is an IPv4 address. */
function addressBytes(text: string): IpBytes | null {
  const bytes = parseIpLiteral(text);
  if (bytes === null || bytes.length === 4) return bytes;
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12) : bytes;
}
