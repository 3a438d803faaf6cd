import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { estimate, type Workload } from '../../src/cli/cost/estimate.ts';
import { PRICES } from '../../src/cli/cost/prices.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WORKLOAD: Workload = {
  host: 'aws',
  mode: 'economy',
  runs: 200_000,
  stepsPerRun: 5,
  stepsPerTurn: 5,
  stepMs: 50,
  cpuMs: 2,
  batch: 2,
  minUnits: 0.25,
};
const of = (change: Partial<Workload>) => estimate({ ...WORKLOAD, ...change }, PRICES);

async function cost(...args: readonly string[]) {
  const program = resolve(ROOT, 'src/cli/main.ts');
  const run = promisify(execFile)(resolve(ROOT, 'node_modules/.bin/tsx'), [program, 'cost', ...args]);
  return run.then(
    ({ stdout }) => ({ out: stdout, error: '' }),
    (error: { stdout: string; stderr: string }) => ({ out: error.stdout, error: error.stderr }),
  );
}

describe('the estimate of costs', () => {
  it('grows with the work, and idle does not', () => {
    const [once, twice] = [of({}), of({ runs: 400_000 })];
    expect(twice.perMillionSteps).toBeLessThan(once.perMillionSteps * 1.001);
    expect(twice.idleMonth).toBe(once.idleMonth);
  });

  it('is several times as much with one step per invocation as with a turn that goes on', () => {
    const each = of({ stepsPerTurn: 1, batch: 1, stepMs: 5 }).perMillionSteps;
    expect(each).toBeGreaterThan(2 * of({ batch: 1, stepMs: 5 }).perMillionSteps);
  });

  it('shows that a database which may sleep is nearly all of an idle month', () => {
    for (const host of ['aws', 'cloudflare'] as const) {
      const saved = of({ host, mode: 'steady' }).idleMonth - of({ host }).idleMonth;
      expect(saved).toBeGreaterThan(25);
    }
  });

  it('counts lines that add up, in no workload less than nothing', () => {
    for (const host of ['aws', 'cloudflare'] as const) {
      for (const runs of [0, 1, 1e9]) {
        const { work, idle, idleMonth } = of({ host, runs });
        expect([...work, ...idle].every(({ dollars }) => dollars >= 0)).toBe(true);
        expect(idle.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(idleMonth);
      }
    }
  });
});

describe('stepwell cost', () => {
  it('answers what docs/cost.md shows', async () => {
    const shown = [
      ...readFileSync(resolve(ROOT, 'docs/cost.md'), 'utf8').matchAll(
        /```console\n\$ npx stepwell cost (.*)\n([\s\S]*?)```/g,
      ),
    ];
    expect(shown).toHaveLength(3);
    for (const [, args = '', text] of shown) expect((await cost(...args.split(' '))).out).toBe(text);
  });

  it('takes other prices, and answers JSON with all that it went by', async () => {
    const { out } = await cost('--json', '--price', 'neon_unit_hour=0, alarm_month=7');
    expect(JSON.parse(out)).toMatchObject({
      prices: { neon_unit_hour: 0, alarm_month: 7, log_gb: PRICES.log_gb },
      workload: WORKLOAD,
    });
  });

  it.each([
    [['--batch', '0'], '--batch must be a number of at least 1'],
    [['--runs', 'many'], '--runs must be a number of at least 0'],
    [['--price', 'neon_unit_hours=1'], 'Did you mean neon_unit_hour?'],
    [['--price', 'log_gb=cheap'], 'log_gb=cheap sets no price'],
  ])('refuses %j', async (args, message) => {
    expect((await cost(...args)).error).toContain(message);
  });
});
