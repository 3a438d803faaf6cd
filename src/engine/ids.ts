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
  let timeOf = -1;
  let time = '';
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
      if (timeOf !== lastMs) {
        timeOf = lastMs;
        time = formatTime(lastMs);
      }
      return formatId(time, counter, random);
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

/** `time`: see `formatTime`. Version and variant keep the two groups behind it at four digits. */
function formatId(time: string, counter: number, random: Uint8Array): string {
  const high = (0x7000 + Math.floor(counter / 0x4000)).toString(16);
  const low = (0x8000 + (counter % 0x4000)).toString(16);
  let id = `${time}-${high}-${low}-`;
  for (let index = 0; index < 6; index += 1) id += HEX[byteAt(random, index)] ?? '';
  return id;
}

function formatTime(ms: number): string {
  const digits = ms.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The two digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
