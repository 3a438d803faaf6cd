import { describe, expect, it } from 'vitest';
import { SWEEP_MS } from './support/engine-process.ts';
import { noFaults } from './support/fault-store.ts';
import { type HintFate, hintFates, queuedHints } from './support/hint-faults.ts';
import { runScenario } from './support/run-scenario.ts';
import { scenarios } from './support/scenarios.ts';
import { checkEffects, checkEnd, faultless } from './support/single-fault.ts';

/** Claims of the sweep come a period apart; so many of them a run may need when no hint arrives. */
const HOPS_MAX = 12;

/** DESIGN 5: the queue is a hint, the row is the truth ([SWEEP-2], I19). */
describe('hints that go wrong change the time a run takes, and nothing else', () => {
  const fates = Object.entries(hintFates) as readonly (readonly [string, HintFate])[];
  const cases = fates.flatMap(([name, fate]) =>
    scenarios.map((scenario) => [name, scenario.name, scenario, fate] as const),
  );

  it.each(cases)('%s: %s [SWEEP-2]', async (_, _name, scenario, fate) => {
    const expected = await faultless(scenario);
    const run = await runScenario(scenario, () => noFaults, {
      hints: (world) => queuedHints(world, fate),
      settings: { maxStepsPerTurn: 1 },
    });
    checkEnd(scenario, run.end, expected.end);
    checkEffects(run.calls, 0);
    expect(run.tookMs).toBeLessThanOrEqual(expected.tookMs + HOPS_MAX * SWEEP_MS);
  });
});
