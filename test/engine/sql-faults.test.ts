import { describe, expect, it } from 'vitest';
import { noFaults } from './support/fault-store.ts';
import { hintFates, queuedHints } from './support/hint-faults.ts';
import { drawFrom, playWorld } from './support/random-world.ts';
import { runScenario } from './support/run-scenario.ts';
import { scenarios } from './support/scenarios.ts';
import { SINGLE_FAULTS, checkRun, checkSingleFault, faultless } from './support/single-fault.ts';
import { DATABASES, useDatabase } from './support/sql-worlds.ts';
import type { TestEngine } from './support/test-engine.ts';

/** Points that are tried per scenario; each of them is tried over the store in memory. */
const SAMPLES = { PostgreSQL: 6, PGlite: 6, 'Neon over HTTP': 2 } as const;

/** The same sequences, effects and promises whatever the store (DESIGN promise 6). */
describe.each(DATABASES)('%s', (name) => {
  const makeStore = useDatabase(name);

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: ends as in memory, with and without faults',
    { timeout: 300_000 },
    async (_, scenario) => {
      const inMemory = await faultless(scenario);
      const here = await faultless(scenario, makeStore);
      expect(here.end).toEqual(inMemory.end);
      checkRun(scenario, here, inMemory, 0);
      const draw = drawFrom(scenarios.indexOf(scenario));
      for (let sample = 0; sample < SAMPLES[name]; sample += 1) {
        const at = draw.below(here.world.calls.calls.length);
        await checkSingleFault(scenario, at, draw.oneOf(SINGLE_FAULTS), here, makeStore);
      }
    },
  );
});

/** What brings the hints there does not depend on how a driver reaches the database. */
describe.each(['PostgreSQL', 'PGlite'] as const)('%s and hints', (name) => {
  const makeStore = useDatabase(name);

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: ends by the sweep alone, and doubles nothing when each hint comes one to five times',
    { timeout: 300_000 },
    async (_, scenario) => {
      const expected = await faultless(scenario);
      for (const fate of [hintFates.dropped, hintFates.repeated]) {
        const store = await makeStore();
        const hints = (world: TestEngine) => queuedHints(world, fate);
        const run = await runScenario(scenario, () => noFaults, { store, hints });
        checkRun(scenario, run, expected, 0);
      }
    },
  );
});

/** Seeds that random-faults.test.ts plays in memory as well. */
const WORLDS = 6;

describe('PostgreSQL and random worlds', () => {
  const makeStore = useDatabase('PostgreSQL');

  it.each(Array.from({ length: WORLDS }, (_, seed) => [seed]))(
    'world %i: ends as it does in memory',
    { timeout: 300_000 },
    async (seed) => {
      const here = await playWorld(seed, await makeStore());
      expect(here.plan.seed).toBe(seed);
    },
  );
});
