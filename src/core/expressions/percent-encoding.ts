const HEX = '0123456789ABCDEF';
const PERCENT = '%'.charCodeAt(0);
const UNRESERVED = unreserved();

/** 1 for the bytes that stay: letters, digits and `-_.~`. */
function unreserved(): Uint8Array {
  const table = new Uint8Array(256);
  const kept = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~';
  for (let index = 0; index < kept.length; index += 1) table[kept.charCodeAt(index)] = 1;
  return table;
}

/** How long the encoded form of the bytes is. */
export function percentEncodedLength(bytes: Uint8Array): number {
  return bytes.reduce((length, byte) => length + (UNRESERVED[byte] === 1 ? 1 : 3), 0);
}

/** Bytes with everything but the unreserved characters percent-encoded, as the bytes of an ASCII text. */
export function percentEncode(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(percentEncodedLength(bytes));
  let length = 0;
  for (const byte of bytes) {
    if (UNRESERVED[byte] === 1) {
      text[length] = byte;
      length += 1;
      continue;
    }
    text[length] = PERCENT;
    text[length + 1] = HEX.charCodeAt(byte >> 4);
    text[length + 2] = HEX.charCodeAt(byte & 15);
    length += 3;
  }
  return text;
}
