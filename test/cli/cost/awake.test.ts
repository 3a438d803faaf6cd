import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/adapters/system.ts';
import { DEFAULTS, type Workload } from '../../../src/cli/cost/assumptions.ts';
import { awakeOf, HOURS, wakesOf } from '../../../src/cli/cost/awake.ts';
import { workOf } from '../../../src/cli/cost/work.ts';
import { createWakeGuard } from '../../../src/engine/deployment-wakes.ts';
import { WORKLOAD } from './worlds.ts';

/** A visit takes no time of its own: what is left is the guard and the database's patience. */
const INSTANT = { stepMs: 0, dbMs: 0, engineMs: 0, turnMs: 0 };
const world = (change: Partial<Workload>): Workload => ({ ...WORKLOAD, ...INSTANT, ...change });
const hours = (change: Partial<Workload>): number => {
  const workload = world(change);
  return awakeOf(workload, workOf(workload)).hours;
};
const wakes = (change: Partial<Workload>): number => {
  const workload = world(change);
  return wakesOf(workload, workOf(workload));
};

/** 122 sweeps a month, each with its five minutes. */
const SWEPT = (730 / 6) * (5 / 60);

describe('the hours of a sleeping database', () => {
  it('are those of the safety sweeps when nothing happens', () => {
    expect(hours({ runs: 0 })).toBeCloseTo(SWEPT, 9);
    expect(hours({ runs: 0, host: 'cloudflare' })).toBeCloseTo(SWEPT, 9);
  });

  it('are seven and a half minutes for a lonely run: its guard, rounded up to a minute, and five minutes of silence', () => {
    const one = hours({ runs: 1 }) - SWEPT;
    expect(one * 60).toBeCloseTo(7.5 * (1 - SWEPT / HOURS), 2);
    const onCloudflare = hours({ runs: 1, host: 'cloudflare' }) - SWEPT;
    expect(onCloudflare * 60).toBeCloseTo(7 * (1 - SWEPT / HOURS), 2);
  });

  it('go by the guard that the engine keeps', async () => {
    let keptMs = 0;
    const guard = createWakeGuard({
      waker: {
        guard: (delayMs) => {
          keptMs = delayMs;
          return Promise.resolve();
        },
        wakeWithin: () => Promise.reject(new Error('nobody asks for it')),
      },
      clock: { nowMs: () => 0 },
      log: createLog({ level: 'silent', format: 'text' }),
      invocationMs: DEFAULTS.invocationSeconds * 1000,
      leaseMs: null,
      memory: { keptUntilMs: 0 },
    });
    await guard.keep();
    // What is added to the five minutes of silence above.
    expect(keptMs).toBe(2 * 60_000);
  });

  it('are the share 1 - exp(-rate × length) for runs at any time', () => {
    // 1,000 runs of 0.125 h in 730 h.
    const share = 1 - Math.exp(-(1000 * 0.125) / 730);
    expect(hours({ runs: 1000 })).toBeCloseTo(730 * (1 - (1 - share) * (1 - SWEPT / 730)), 9);
  });

  it('are nearly all when a run comes every minute, and few when the same runs come at once', () => {
    expect(hours({ runs: 43_800 }) / HOURS).toBeGreaterThan(0.999);
    // 219,000 steps at 100 a second and one unit take 0.61 h.
    const heap = hours({ runs: 43_800, arrival: 'heap' });
    expect(heap).toBeCloseTo(730 * (1 - (1 - (219_000 / 360_000 + 0.125) / 730) * (1 - SWEPT / 730)), 9);
  });

  it('end a little after business hours, and count the quiet of sparse ones', () => {
    const business = (runs: number) => hours({ runs, arrival: 'business-hours' });
    const always = 22 * (8 + 0.125);
    expect(business(1e9)).toBeCloseTo(730 * (1 - (1 - always / 730) * (1 - SWEPT / 730)), 3);
    expect((business(22) - SWEPT) * 60).toBeLessThan(22 * 7.5);
    expect((business(22) - SWEPT) * 60).toBeGreaterThan(22 * 7.2);
    expect(business(5000)).toBeLessThan(hours({ runs: 5000 }));
  });

  it('agree with counting the covered hours of many days on which visits come at random', () => {
    const [perHour, hoursOfDay, lasts, days] = [5, 8, 0.125, 4000];
    const next = pseudoRandom(7);
    let covered = 0;
    for (let day = 0; day < days; day += 1) {
      const starts: number[] = [];
      const gap = (): number => -Math.log(1 - next()) / perHour;
      for (let at = gap(); at < hoursOfDay; at += gap()) starts.push(at);
      covered += lengthOfUnion(starts, lasts);
    }
    const runs = perHour * hoursOfDay;
    const expected = hours({ runs, arrival: 'business-hours', businessDays: 1 });
    expect(covered / days / ((expected - SWEPT) / (1 - SWEPT / HOURS))).toBeCloseTo(1, 2);
  });

  it('grow with waits, each of which wakes it again', () => {
    expect(hours({ runs: 100, waits: 3 })).toBeCloseTo(hours({ runs: 400 }), 9);
  });

  it('grow with readers, who keep no guard', () => {
    const share = 1 - Math.exp(-(1000 * (5 / 60)) / 730);
    expect(hours({ runs: 0, reads: 1000 })).toBeCloseTo(730 * (1 - (1 - share) * (1 - SWEPT / 730)), 9);
  });

  it('are all in steady mode, unless the database sleeps within a minute', () => {
    expect(hours({ mode: 'steady', runs: 0 })).toBe(HOURS);
    expect(hours({ mode: 'steady', runs: 0, sleepMinutes: 0.5 })).toBeCloseTo(HOURS / 2, 9);
  });

  it('never exceed the month', () => {
    for (const arrival of ['heap', 'spread', 'business-hours'] as const) {
      const all = hours({
        arrival,
        runs: 1e12,
        steps: 1e6,
        stepMs: 3_600_000,
        businessDays: 31,
        businessHours: 24,
      });
      expect(all).toBeLessThanOrEqual(HOURS);
    }
  });
});

describe('the wakes of economy mode', () => {
  it('are none without visits', () => {
    expect(wakes({ runs: 0 })).toBe(0);
    expect(wakes({ runs: 0, host: 'cloudflare' })).toBe(0);
    expect(wakes({ mode: 'steady' })).toBe(0);
  });

  it('are one for a lonely run and two more for each of its waits', () => {
    expect(wakes({ runs: 1 })).toBeCloseTo(1, 3);
    expect(wakes({ runs: 1, waits: 1 })).toBeCloseTo(3, 3);
    expect(wakes({ runs: 1, waits: 1, arrival: 'heap' })).toBe(3);
  });

  it('are at most one a minute', () => {
    expect(wakes({ runs: 1e9 })).toBeCloseTo(43_800, 6);
    expect(wakes({ runs: 1e9, arrival: 'heap', steps: 1e6, host: 'cloudflare' })).toBe(43_800);
  });
});

/** Length of the union of intervals that begin in this order. */
function lengthOfUnion(starts: readonly number[], lasts: number): number {
  let end = Number.NEGATIVE_INFINITY;
  let length = 0;
  for (const start of starts) {
    length += lasts - Math.max(0, end - start);
    end = start + lasts;
  }
  return length;
}

/** Numbers of [0, 1) that are the same each time (mulberry32). */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
