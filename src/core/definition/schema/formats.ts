import { isLocalDate } from '../local-time.ts';
import { isInstant } from '../times.ts';

/**
 * The formats that are checked, each in linear time. Other names are annotations, as the draft says. `uri` looks at the
 * scheme only: what a handler does with an address is checked where it is used.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date-time', isInstant],
  ['date', isLocalDate],
  ['time', (text: string) => /^\d{2}:\d{2}:\d{2}/.test(text) && isInstant(`2000-01-01T${text}`)],
  ['uuid', (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ['uri', (text: string) => /^[a-z][a-z0-9+.-]*:[^\s]+$/i.test(text)],
  ['hostname', isHostName],
  ['email', isEmail],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
]);

/** True when the text has the format, or when the format is not one that is checked. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}

function isHostName(text: string): boolean {
  if (text.length > 253) return false;
  return text
    .split('.')
    .every((label) => label.length <= 63 && /^[a-z0-9-]+$/i.test(label) && !/^-|-$/.test(label));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (local === '' || local.length > 64 || /[\s@]/.test(local)) return false;
  return isHostName(text.slice(at + 1));
}

function isIpv4(text: string): boolean {
  const parts = text.split('.', 5);
  return (
    parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const last = text.slice(text.lastIndexOf(':') + 1);
  const embedded = last.includes('.');
  const plain = groups.flat().slice(0, embedded ? -1 : undefined);
  const count = plain.length + (embedded ? 2 : 0);
  if (embedded && !isIpv4(last)) return false;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? count <= 7 : count === 8;
}
