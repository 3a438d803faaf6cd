import { parseIpLiteral } from './ip-address.ts';

const GROUP_BYTES = 8;

/**
 * What stands for a caller where calls are counted: an IPv4 address, and of an IPv6 address the network of 64 bits, since each
 * of its addresses is at one caller's disposal. Any other text stands for itself.
 */
export function networkOf(address: string): string {
  const bytes = address.includes(':') ? parseIpLiteral(address) : null;
  if (bytes === null) return address;
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12).join('.') : `${hex(bytes.slice(0, GROUP_BYTES))}/64`;
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
