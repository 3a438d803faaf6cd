import type { Clock, Entropy } from '../ports/system.ts';

/** Makes UUIDs of version 7, each above all that this source made before (http-api.md 1.6). */
export interface IdSource {
  newId(): string;
}

/** 26 bits: the 12 of `rand_a` and 14 of `rand_b` count within a millisecond (RFC 9562, 6.2 method 1). */
const COUNTER_END = 2 ** 26;

/**
 * A source of strictly increasing ids. The counter starts each millisecond at random in its lower half; when it runs
 * over, or the clock stands still or goes back, the time part goes on by itself.
 *
 * @param after An id that all new ones must exceed, such as the last one written by another process (RULINGS A35).
 */
export function createIdSource(clock: Pick<Clock, 'nowMs'>, entropy: Entropy, after?: string): IdSource {
  let lastMs = after === undefined ? -1 : uuidTimeMs(after);
  // Every counter value of that millisecond may be taken by the other source.
  let counter = COUNTER_END;
  return {
    newId(): string {
      const random = entropy.bytes(10);
      const nowMs = clock.nowMs();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        counter = startOfCounter(random);
      } else if (counter < COUNTER_END - 1) {
        counter += 1;
      } else {
        lastMs += 1;
        counter = startOfCounter(random);
      }
      return formatId(lastMs, counter, random);
    },
  };
}

/** The millisecond in which an id of version 7 was made. */
export function uuidTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function startOfCounter(random: Uint8Array): number {
  return (
    byteAt(random, 6) +
    byteAt(random, 7) * 0x100 +
    byteAt(random, 8) * 0x10000 +
    (byteAt(random, 9) & 1) * 0x1000000
  );
}

function formatId(ms: number, counter: number, random: Uint8Array): string {
  const time = hex(ms, 12);
  const high = hex(0x7000 + Math.floor(counter / 0x4000), 4);
  const low = hex(0x8000 + (counter % 0x4000), 4);
  const tail = Array.from({ length: 6 }, (_, index) => hex(byteAt(random, index), 2)).join('');
  return `${time.slice(0, 8)}-${time.slice(8)}-${high}-${low}-${tail}`;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
