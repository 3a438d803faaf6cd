import type { Entropy } from '../../ports/system.ts';

/** What expressions call as `random()` and `uuid()`, made from the entropy port. */
export function randomValues(entropy: Entropy): {
  readonly random: () => number;
  readonly uuid: () => string;
} {
  return { random: () => randomFraction(entropy.bytes(7)), uuid: () => uuidV4(entropy.bytes(16)) };
}

/** A number in [0, 1) with the 53 bits a double can hold. */
function randomFraction(bytes: Uint8Array): number {
  const integer = bytes.reduce((sum, byte, index) => (index === 0 ? byte & 0x1f : sum * 256 + byte), 0);
  return integer / 2 ** 53;
}

function uuidV4(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte, index) => {
    // The version stands in the seventh byte, the variant in the ninth.
    const fixed = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return fixed.toString(16).padStart(2, '0');
  }).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
