/**
 * The API reads a header as the bytes that came, one character each, which are UTF-8 (http-api.md 1.4). Hosts that have decoded
 * them already are taken back to that, so that a name means the same everywhere.
 */
export function headerBytes(text: string): string {
  // What the host could not decode stays what nobody can.
  return text
    .split('\ufffd')
    .map((part) => String.fromCharCode(...new TextEncoder().encode(part)))
    .join('\u00ff');
}

/** Of a host that does not say which of the two it gives: what is UTF-8 as bytes is taken for bytes. */
export function headerBytesOfEither(value: string): string {
  if (isAscii(value)) return value;
  return isUtf8Bytes(value) ? value : headerBytes(value);
}

export function isAscii(value: string): boolean {
  return !/[^\0-\u007f]/.test(value);
}

function isUtf8Bytes(value: string): boolean {
  if (/[^\0-\u00ff]/.test(value)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(value, (character) => character.charCodeAt(0)),
    );
    return true;
  } catch {
    return false;
  }
}
