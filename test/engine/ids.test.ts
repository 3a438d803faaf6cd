import { describe, expect, it } from 'vitest';
import { createIdSource, uuidTimeMs } from '../../src/engine/ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const T = Date.parse('2027-02-11T08:00:00.120Z');

function sourceAt(times: { now: number }, byte = 0xff, after?: string) {
  const clock = {
    nowMs: () => times.now,
    monotonicMs: () => 0,
    soon: () => undefined,
    after: () => () => undefined,
  };
  const entropy = { bytes: (length: number) => new Uint8Array(length).fill(byte) };
  return createIdSource(clock, entropy, after);
}

describe('createIdSource', () => {
  it('makes UUIDs of version 7 that carry the millisecond', () => {
    const id = sourceAt({ now: T }).newId();
    expect(id).toMatch(UUID_V7);
    expect(uuidTimeMs(id)).toBe(T);
  });

  it('makes strictly increasing ids while the clock stands still', () => {
    const source = sourceAt({ now: T });
    const ids = Array.from({ length: 20_000 }, () => source.newId());
    expect([...new Set(ids)].sort()).toEqual(ids);
    expect(uuidTimeMs(ids.at(-1) ?? '')).toBe(T);
  });

  it('goes on above the last id when the clock goes back', () => {
    const times = { now: T };
    const source = sourceAt(times);
    const before = source.newId();
    times.now = T - 3_600_000;
    const after = source.newId();
    expect(after > before).toBe(true);
    expect(uuidTimeMs(after)).toBe(T);
  });

  it('borrows the next millisecond when the counter runs over', () => {
    const source = sourceAt({ now: T - 1 }, 0xff, '00000000-0000-7000-8000-000000000000');
    const lasts = sourceAt({ now: T }, 0, source.newId());
    // An id of this very millisecond was made elsewhere, so all of its counter may be used up.
    const borrowed = sourceAt({ now: T - 1 }, 0, lasts.newId()).newId();
    expect(uuidTimeMs(borrowed)).toBe(T + 1);
  });

  it('starts above the id it is given', () => {
    const last = sourceAt({ now: T + 5000 }).newId();
    const source = sourceAt({ now: T }, 0, last);
    expect(source.newId() > last).toBe(true);
  });

  it('returns to the clock once the clock has caught up', () => {
    const times = { now: T };
    const source = sourceAt(times, 0, sourceAt({ now: T + 10 }).newId());
    source.newId();
    times.now = T + 5000;
    expect(uuidTimeMs(source.newId())).toBe(T + 5000);
  });
});
