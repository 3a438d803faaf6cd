const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = '='.charCodeAt(0);
const INVALID = 255;
/** Six-bit value by character code; everything outside the alphabet is `INVALID`. */
const SEXTETS = sextets();

function sextets(): Uint8Array {
  const table = new Uint8Array(128).fill(INVALID);
  for (let value = 0; value < ALPHABET.length; value += 1) table[ALPHABET.charCodeAt(value)] = value;
  return table;
}

/** Bytes in the standard alphabet with padding, as the bytes of an ASCII text. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  let length = 0;
  let group = 0;
  let bits = 0;
  const writeDigit = (value: number): void => {
    text[length] = ALPHABET.charCodeAt(value & 63);
    length += 1;
  };
  for (const byte of bytes) {
    group = ((group << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 6; bits -= 6) writeDigit(group >> (bits - 6));
  }
  if (bits > 0) writeDigit(group << (6 - bits));
  return text;
}

/** The bytes of a base64 text, or undefined when alphabet or padding are wrong. Blanks are not in the alphabet. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let group = 0;
  let length = 0;
  for (let index = 0; index < digits; index += 1) {
    const value = SEXTETS[text.charCodeAt(index)] ?? INVALID;
    if (value === INVALID) return undefined;
    group = ((group << 6) | value) & 0xffffff;
    // From the second character on, each one completes a byte: with 2, 4 and 6 bits to spare.
    if (index % 4 !== 0) bytes[length++] = (group >> (6 - 2 * (index % 4))) & 0xff;
  }
  return bytes;
}
