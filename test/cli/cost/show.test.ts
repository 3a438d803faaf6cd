import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { estimate } from '../../../src/cli/cost/estimate.ts';
import { amountText, dollarsText } from '../../../src/cli/cost/figures.ts';
import { PRICES } from '../../../src/cli/cost/prices.ts';
import { showComparison } from '../../../src/cli/cost/show-comparison.ts';
import { showEstimate } from '../../../src/cli/cost/show-estimate.ts';
import { createPalette } from '../../../src/cli/terminal.ts';
import { PLACES, WORKLOAD } from './worlds.ts';

const WIDTHS = [46, 60, 80, 120, 200];

function shownAt(columns: number, colour: boolean, change: Partial<typeof WORKLOAD> = {}): readonly string[] {
  const workload = { ...WORKLOAD, ...change };
  const shown = { workload, prices: PRICES, columns, palette: createPalette(colour) };
  const estimates = PLACES.map((place) => estimate({ ...workload, ...place }, PRICES));
  return [...estimates.flatMap((one) => showEstimate(one, shown)), ...showComparison(estimates, shown)];
}

describe('what a terminal shows of costs', () => {
  it.each(WIDTHS)('fits into %d columns', (columns) => {
    for (const change of [{}, { runs: 0 }, { runs: 1e12, steps: 1e6, stepMs: 3_600_000, waits: 9_999 }]) {
      expect(shownAt(columns, false, change).filter((line) => line.length > columns)).toEqual([]);
    }
  });

  it.each(WIDTHS)('says the same with colours, at %d columns', (columns) => {
    const coloured = shownAt(columns, true);
    expect(coloured.map(stripVTControlCharacters)).toEqual(shownAt(columns, false));
    expect(coloured.join('')).toContain('\u001B[1m');
  });

  it('lists every assumption of its host with what it rests on, and marks those that were changed', () => {
    const workload = { ...WORKLOAD, stepMs: 70 };
    const lines = showEstimate(estimate(workload, PRICES), {
      workload,
      prices: PRICES,
      columns: 80,
      palette: createPalette(false),
    }).join('\n');
    expect(lines).toContain('--pollers 5 a queue p');
    expect(lines).toContain('--step-ms 70 y');
    expect(lines).not.toContain('--waker-calls');
    expect(lines).not.toContain('--business-days');
  });

  it('writes figures as people read them', () => {
    expect([0, 0.001, 0.1234, 2.783, 99.96, 1_314_000, 3e12].map(amountText)).toEqual([
      '0',
      '<0.01',
      '0.123',
      '2.78',
      '100',
      '1,314,000',
      '3.0e12',
    ]);
    expect([0, 0.001, 0.005, 20.4, 12_345.678, 3e12].map(dollarsText)).toEqual([
      '0',
      '<0.01',
      '0.01',
      '20.40',
      '12,345.68',
      '3.0e12',
    ]);
  });
});
