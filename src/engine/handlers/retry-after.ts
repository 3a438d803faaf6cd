import { MAX_DURATION_MS } from '../../core/definition/times.ts';
import type { Header } from '../../core/network/outbound-headers.ts';

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds that a `Retry-After` header asks for, seconds or an HTTP date (measured from `nowMs`); null when there is
 * none or it cannot be read. A date in the past is 0.
 */
export function retryAfterMs(headers: readonly Header[], nowMs: number): number | null {
  const value = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1].trim();
  if (value === undefined) return null;
  if (/^\d{1,10}$/.test(value)) return Math.min(Number(value) * 1000, MAX_DURATION_MS);
  if (!HTTP_DATE.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, atMs - nowMs), MAX_DURATION_MS);
}
