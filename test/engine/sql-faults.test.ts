import { describe, expect, it } from 'vitest';
import { noFaults } from './support/fault-store.ts';
import { hintFates, queuedHints } from './support/hint-faults.ts';
import { drawFrom, playWorld } from './support/random-world.ts';
import { runScenario } from './support/run-scenario.ts';
import { scenarios } from './support/scenarios.ts';
import { SINGLE_FAULTS, checkRun, checkSingleFault, faultless } from './support/single-fault.ts';
import { DATABASES, useDatabase } from './support/sql-worlds.ts';
import type { TestEngine } from './support/test-engine.ts';

/**
 * Faults per scenario, and of how many scenarios one is played; all are played over the store in memory. The kinds go
 * round, so that each database meets each of them.
 */
const SHARES = {
  PostgreSQL: { faults: 2, ofEvery: 1 },
  PGlite: { faults: 1, ofEvery: 2 },
  'Neon over HTTP': { faults: 1, ofEvery: 3 },
} as const;

const cases = (ofEvery: number) =>
  scenarios
    .map((scenario, index) => [scenario.name, scenario, index] as const)
    .filter(([, , index]) => index % ofEvery === 0);

/** The same sequences, effects and promises whatever the store (DESIGN promise 6). */
describe.each(DATABASES)('%s', (name) => {
  const makeStore = useDatabase(name);

  const { faults, ofEvery } = SHARES[name];

  it.each(cases(ofEvery))(
    '%s: ends as in memory, with and without faults',
    { timeout: 300_000 },
    async (_, scenario, index) => {
      const inMemory = await faultless(scenario);
      const here = await faultless(scenario, makeStore);
      expect(here.end).toEqual(inMemory.end);
      checkRun(scenario, here, inMemory, 0);
      const draw = drawFrom(index);
      for (let nth = 0; nth < faults; nth += 1) {
        const at = draw.below(here.world.calls.calls.length);
        const kind =
          SINGLE_FAULTS[((index / ofEvery) * faults + nth) % SINGLE_FAULTS.length] ?? 'crash-after';
        await checkSingleFault(scenario, at, kind, here, makeStore);
      }
    },
  );
});

/** What brings the hints there does not depend on how a driver reaches the database. */
describe.each(['PostgreSQL', 'PGlite'] as const)('%s and hints', (name) => {
  const makeStore = useDatabase(name);

  const fates = [hintFates.dropped, hintFates.repeated];

  it.each(cases(name === 'PGlite' ? 3 : 1))(
    '%s: ends by the sweep alone, or doubles nothing when each hint comes one to five times',
    { timeout: 300_000 },
    async (_, scenario, index) => {
      const expected = await faultless(scenario);
      const fate = fates[index % fates.length] ?? hintFates.dropped;
      const store = await makeStore();
      const hints = (world: TestEngine) => queuedHints(world, fate);
      const run = await runScenario(scenario, () => noFaults, { store, hints });
      checkRun(scenario, run, expected, 0);
    },
  );
});

/** Seeds that random-faults.test.ts plays in memory as well. */
const WORLDS = 4;

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
