import { sha256Hex } from '../../core/digest.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuidText(text: string): boolean {
  return UUID.test(text);
}

/** The same UUID (version 8) for the same text: what is sent again for one attempt has one id. */
export function uuidOfText(text: string): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}
