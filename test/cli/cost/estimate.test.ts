import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ASSUMPTION_NAMES, ASSUMPTIONS, type Workload } from '../../../src/cli/cost/assumptions.ts';
import { type Estimate, estimate } from '../../../src/cli/cost/estimate.ts';
import { PRICES } from '../../../src/cli/cost/prices.ts';
import { estimateOf, PLACES, WORKLOAD } from './worlds.ts';

const dollarsOf = ({ lines }: Estimate, what: string) =>
  lines.find((line) => line.what === what)?.month.dollars;
const amountOf = ({ lines }: Estimate, what: string) =>
  lines.find((line) => line.what === what)?.month.amount;

describe('an idle month', () => {
  it('on AWS in economy mode is the pollers, the alarms and ten hours of the database', () => {
    const { lines, idleMonth, month } = estimateOf({ runs: 0 });
    const dollars = Object.fromEntries(lines.map(({ what, idle }) => [what, idle.dollars]));
    // 2 queues × 5 pollers × 3 a minute × 43,800 minutes.
    expect(dollars['SQS empty receives']).toBeCloseTo(1.314 * 0.4, 9);
    expect(dollars['Alarms']).toBeCloseTo(1.8, 9);
    expect(dollars['Metrics']).toBeCloseTo(0.6, 9);
    // 730 ÷ 6 sweeps × 5 minutes × 0.25 compute units.
    expect(dollars['Database, compute']).toBeCloseTo((730 / 6 / 12) * 0.25 * 0.106, 9);
    // 121.7 sweeps of 5 + 20 ms at half a gigabyte.
    expect(dollars['Lambda time']).toBeCloseTo(((730 / 6) * 0.025 * 0.5 * 13.3334) / 1e6, 12);
    expect(idleMonth).toBeCloseTo(0.5256 + 0.2687 + 1.8 + 0.6, 3);
    expect(month).toBe(idleMonth);
  });

  it('on AWS in steady mode is a database that never sleeps and a sweep each minute', () => {
    const idle = estimateOf({ runs: 0, mode: 'steady' });
    expect(dollarsOf(idle, 'Database, compute')).toBeCloseTo(730 * 0.25 * 0.106, 9);
    expect(amountOf(idle, 'Lambda requests')).toBe(43_800);
    expect(amountOf(idle, 'Sweeps and wakes')).toBe(43_800);
    expect(dollarsOf(idle, 'Sweeps and wakes')).toBeCloseTo(0.0438, 9);
  });

  it('on Cloudflare is the plan and the database; the waker is there in economy mode only', () => {
    const economy = estimateOf({ host: 'cloudflare', runs: 0 });
    // A safety sweep that finds nothing keeps no wake.
    expect(amountOf(economy, 'Waker, calls')).toBe(0);
    expect(economy.idleMonth).toBeCloseTo(5 + (730 / 6) * (5 / 60) * 0.25 * 0.106, 2);
    const steady = estimateOf({ host: 'cloudflare', mode: 'steady', runs: 0 });
    expect(amountOf(steady, 'Waker, calls')).toBe(0);
    expect(amountOf(steady, 'Workers requests')).toBe(43_800);
    expect(steady.idleMonth).toBeCloseTo(5 + 730 * 0.25 * 0.106 + 0.0526, 3);
  });

  it('does not depend on the work', () => {
    for (const place of PLACES) {
      const idle = estimateOf({ ...place, runs: 0 }).idleMonth;
      expect(estimateOf({ ...place, runs: 1e6, reads: 1e6, waits: 4, arrival: 'heap' }).idleMonth).toBe(idle);
    }
  });
});

describe('a month of work, computed by hand', () => {
  /** A thousand runs of ten steps at once: the database works for 100 s. */
  const heap = { runs: 1000, steps: 10, batch: 1, arrival: 'heap' } as const;

  it('of a heap on AWS', () => {
    const worked = estimateOf(heap);
    // A turn each: 10 × (50 + 5 + 2) + 5 + 6 ms; a request each: 2 × 5 + 8 ms. 1,000 steps × 10 at 100 a second take 100 s.
    const turnMs = 10 * 57 + 11;
    const wakes = Math.floor(100 / 60) + 1;
    const sweeps = 730 / 6 + wakes;
    expect(amountOf(worked, 'Lambda requests')).toBeCloseTo(2000 + sweeps, 9);
    expect(amountOf(worked, 'Lambda time')).toBeCloseTo(0.5 * (turnMs + 18 + 0.025 * sweeps), 9);
    // Sent, received, deleted.
    expect(amountOf(worked, 'SQS messages')).toBe(3000);
    expect(amountOf(worked, 'SQS fair queues')).toBe(3000);
    expect(amountOf(worked, 'Logs')).toBeCloseTo(((2000 + sweeps) * 400) / 1e9, 12);
    // 100 s at one unit; a quarter of one for the rest of the hours awake.
    const visited = 100 / 3600 + 7.5 / 60;
    const awake = 730 * (1 - (1 - visited / 730) * (1 - 5 / 360));
    expect(worked.awakeHours).toBeCloseTo(awake, 9);
    expect(amountOf(worked, 'Database, compute')).toBeCloseTo(awake * 0.25 + (100 / 3600) * 0.75, 9);
    // 10,000 steps a month, 30 days of them, 2 kB each; one day of 3 kB each.
    expect(amountOf(worked, 'Database, storage')).toBeCloseTo((10_000 * 30 * 2) / (730 / 24) / 1e6, 12);
    expect(amountOf(worked, 'Database, history')).toBeCloseTo((10_000 * 3) / (730 / 24) / 1e6, 12);
  });

  it('of a heap on Cloudflare', () => {
    const worked = estimateOf({ ...heap, host: 'cloudflare' });
    const wakes = 2;
    expect(amountOf(worked, 'Workers requests')).toBeCloseTo(2000 + 730 / 6, 9);
    expect(amountOf(worked, 'Workers CPU')).toBeCloseTo(10_000 * 4 + 1000 * 6 + 1000 * 8 + (730 / 6) * 20, 9);
    expect(amountOf(worked, 'Queue operations')).toBe(3000);
    expect(amountOf(worked, 'Waker, calls')).toBeCloseTo(4 * wakes, 9);
    expect(amountOf(worked, 'Waker, rows')).toBeCloseTo(4 * wakes, 9);
    expect(amountOf(worked, 'Waker, time')).toBeCloseTo(0.128 * 0.025 * wakes, 9);
    expect(amountOf(worked, 'Logs')).toBeCloseTo(((2000 + 730 / 6 + wakes) * 2000) / 1e9, 12);
  });

  it('of runs at any time, whose database hardly sleeps, is that of steady mode', () => {
    const [economy, steady] = [estimateOf({}), estimateOf({ mode: 'steady' })];
    expect(economy.month / steady.month).toBeCloseTo(1, 2);
    expect(economy.notes.join()).toContain('never sleeps');
    expect(steady.notes).toEqual([]);
    // The same in one heap: forty times less of the database.
    const heaped = estimateOf({ arrival: 'heap' });
    expect(dollarsOf(heaped, 'Database, compute')).toBeLessThan(19.345 / 20);
    expect(heaped.notes).toEqual([]);
  });

  it('adds up, and tells the steps from the month', () => {
    for (const place of PLACES) {
      const { lines, month, perMillionSteps, perMillionWithoutCompute } = estimateOf(place);
      expect(lines.reduce((sum, line) => sum + line.month.dollars, 0)).toBeCloseTo(month, 9);
      // 200,000 runs of five steps are a million.
      expect(perMillionSteps).toBeCloseTo(estimateOf({ ...place, runs: 400_000 }).month - month, 9);
      expect(perMillionWithoutCompute).toBeLessThan(2);
    }
    expect(estimateOf({ steps: 0 }).perMillionSteps).toBeNull();
  });
});

describe('what is free', () => {
  it('leaves an idle AWS with its database, some alarms, and some asking of empty queues', () => {
    const { lines, month } = estimateOf({ runs: 0, freeTiers: true });
    // 1.314 million requests to SQS and 18 metrics that alarms look at, of which one million and ten are free.
    const others = 0.314 * 0.4 + 8 * 0.1;
    expect(month).toBeCloseTo(others + (730 / 6 / 12) * 0.25 * 0.106, 9);
    expect(lines.find(({ what }) => what === 'Metrics')?.month).toEqual({ amount: 2, dollars: 0 });
  });

  it('is shared by all that have one price', () => {
    const free = estimateOf({ freeTiers: true });
    // 400,000 messages and 1,314,000 empty receives.
    const [sqs = 0, empty = 0] = ['SQS messages', 'SQS empty receives'].map((what) => dollarsOf(free, what));
    expect(sqs + empty).toBeCloseTo(0.714 * 0.4, 9);
    expect(empty / sqs).toBeCloseTo(1314 / 400, 6);
  });

  it('never makes a month dearer', () => {
    for (const place of PLACES) {
      expect(estimateOf({ ...place, freeTiers: true }).month).toBeLessThan(estimateOf(place).month);
    }
  });
});

describe('steps that are long, or many', () => {
  it('share a turn only as far as its time goes', () => {
    // 55 s for steps of 20.007 s: two fit.
    const turns = (change: Partial<Workload>) =>
      (amountOf(estimateOf({ host: 'cloudflare', ...change }), 'Queue operations') ?? 0) / 3;
    expect(turns({ runs: 1, steps: 10, stepMs: 20_000 })).toBe(5);
    expect(turns({ runs: 1, steps: 10, stepMs: 20_000, stepsPerTurn: 1 })).toBe(10);
    expect(turns({ runs: 1, steps: 10, stepMs: 20_000, stepsPerTurn: 100 })).toBe(5);
    expect(turns({ runs: 1, steps: 0 })).toBe(1);
    expect(turns({ runs: 1, steps: 10, waits: 3 })).toBe(4);
  });

  it('are warned of when they do not fit into an invocation', () => {
    expect(estimateOf({ stepMs: 90_000 }).notes.join()).toContain('does not fit into an invocation of 60 s');
    expect(estimateOf({ stepMs: 50_000, mode: 'steady' }).notes).toEqual([]);
  });

  it('are warned of when the database is too small for them', () => {
    expect(estimateOf({ runs: 1e9 }).notes.join()).toContain('need 19 compute units at a time');
    expect(estimateOf({ runs: 1e9, maxUnits: 20 }).notes.join()).not.toContain('compute units');
    expect(estimateOf({ runs: 1e9, arrival: 'heap' }).notes.join()).toContain('need 19 compute units');
  });

  it('cost several times as much with one step per invocation', () => {
    const each = estimateOf({ stepsPerTurn: 1, batch: 1, stepMs: 5 }).perMillionWithoutCompute ?? 0;
    expect(each).toBeGreaterThan(2 * (estimateOf({ batch: 1, stepMs: 5 }).perMillionWithoutCompute ?? 0));
  });
});

describe('any workload', () => {
  const place = fc.constantFrom(...PLACES);
  const arrival = fc.constantFrom('heap', 'spread', 'business-hours');
  const numbers = fc.record(
    Object.fromEntries(ASSUMPTION_NAMES.map((name) => [name, within(ASSUMPTIONS[name].range)])),
  );
  const workload = fc
    .record({ place, arrival, numbers, freeTiers: fc.boolean() })
    .map(({ place: where, numbers: said, ...rest }): Workload => {
      const all = { ...WORKLOAD, ...where, ...said, ...rest };
      return { ...all, maxUnits: Math.max(all.maxUnits, all.minUnits) };
    });

  it('costs a finite amount of dollars that is never below its idle month', () => {
    fc.assert(
      fc.property(workload, (any) => {
        const { month, idleMonth, awakeHours, lines } = estimate(any, PRICES);
        expect(Number.isFinite(month)).toBe(true);
        expect(month).toBeGreaterThanOrEqual(idleMonth * 0.999_999_999);
        expect(awakeHours).toBeLessThanOrEqual(730);
        for (const line of lines) expect(line.month.dollars).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it.each([
    'runs',
    'steps',
    'stepMs',
    'cpuMs',
    'waits',
    'requests',
    'reads',
    'dbMs',
    'minUnits',
    'sleepMinutes',
    'keepDays',
    'historyDays',
    'memoryMb',
    'alarms',
    'pollers',
  ] as const)('never costs less with more %s', (name) => {
    const { range } = ASSUMPTIONS[name];
    fc.assert(
      fc.property(workload, within(range), (any, other) => {
        const [less, more] = [any[name], other].toSorted((left, right) => left - right);
        const of = (value = 0) => estimate({ ...any, [name]: value, maxUnits: 1000 }, PRICES).month;
        expect(of(more)).toBeGreaterThanOrEqual(of(less) * 0.999_999_999);
      }),
    );
  });

  it('never costs more in economy mode than the wakes that it adds', () => {
    fc.assert(
      fc.property(workload, (any) => {
        const of = (mode: Workload['mode']) => estimate({ ...any, mode, dbMs: 5, sweepTrips: 1 }, PRICES);
        const [economy, steady] = [of('economy'), of('steady')];
        expect(economy.awakeHours).toBeLessThanOrEqual(steady.awakeHours + 1e-9);
      }),
    );
  });
});

/** Small values are as likely as large ones. */
function within([least, most]: readonly [number, number]): fc.Arbitrary<number> {
  const grown = fc
    .double({ min: 0, max: 1, noNaN: true })
    .map((share) => least + (most - least) * share ** 8);
  return fc.oneof(fc.constantFrom(least, most), grown);
}
