import { describe, expect, it } from 'vitest';
import { scenarios } from './support/scenarios.ts';
import { checkSingleFault, faultless, faultsAt } from './support/single-fault.ts';

/**
 * Every store call of a run is a point where the process can fail, die or freeze. Each is tried, one fault per run
 * (reliability.md 3.4). Whatever happens, the run ends as it does without faults, within lease + sweep + 30 s.
 */
describe('one fault at any store call', () => {
  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: leaves the end, the effects and the promises as they are',
    async (_, scenario) => {
      const expected = await faultless(scenario);
      const points = expected.world.calls.calls.length;
      expect(points).toBeGreaterThan(5);
      let tried = 0;
      for (let at = 0; at < points; at += 1) {
        for (const kind of faultsAt(at, 2)) {
          await checkSingleFault(scenario, at, kind, expected);
          tried += 1;
        }
      }
      console.log(`${scenario.name}: ${points} calls, ${tried} faults, all held`);
    },
  );
});
