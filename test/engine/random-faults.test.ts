import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { playWorld } from './support/random-world.ts';

/** Worlds to play and their first seed; more of them, or others, to look for new faults. */
const RUNS = Number(process.env['STEPWELL_TEST_WORLDS'] ?? 400);
const SEED = Number(process.env['STEPWELL_TEST_SEED'] ?? 20_270_211);

describe('random worlds (reliability.md 3.4)', () => {
  it('whatever fails, dies, freezes or is lost: all runs end as they should, and each effect under one key', {
    timeout: 3_600_000,
  }, async () => {
    let played = 0;
    let faults = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 - 1 })), async (seed) => {
        const world = await playWorld(seed);
        played += 1;
        faults += world.faults;
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
    console.log(`${played} random worlds from seed ${SEED}, ${faults} faults, all held`);
    expect(played).toBe(RUNS);
  });

  it('an interceptor is called when its lease is nearly over, and its row says so', async () => {
    // A slow claim leaves little of the lease, nobody takes it over, and the late commit is taken (RULINGS A23).
    await playWorld(2_147_483_621);
  });

  it('a world is the same each time it is played', async () => {
    for (const seed of [1, 2, 3]) expect(await playWorld(seed)).toEqual(await playWorld(seed));
  });
});
