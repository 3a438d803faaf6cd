import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLive } from '../../src/core/run/fold/history-row.ts';
import { type Played, essence, goOn, playOnce } from './support/play.ts';
import { type At, dependsOnTime, outcomeOf, placesOf, steadfast } from './support/gone-back.ts';
import { type RandomScenario, randomScenario } from './support/random-scenario.ts';
import { forkNow, resumeNow } from './support/resume.ts';
import { type Crashes, signal } from './support/script.ts';
import { randomSeed } from './support/seed.ts';
import type { World } from './support/world.ts';

/**
 * Random trees, gone back to at every block and pass that they came to. A failure prints its seed; `STEPWELL_SEED=<seed>
 * npx vitest run test/run/random-resume.test.ts` repeats it, and `STEPWELL_RUNS` sets how many trees are tried.
 */
const seed = randomSeed();
const runs = Number(process.env['STEPWELL_RUNS'] ?? 6);
const TIMEOUT_MS = 60_000 + runs * 3000;

async function resumed(
  scenario: RandomScenario,
  at: At,
  crashes: Crashes = 'none',
): Promise<Played | string> {
  const { world } = await playOnce(scenario, crashes);
  const refused = await resumeNow(world, at);
  return refused ?? goOn(world);
}

async function check(
  arbitrary: fc.Arbitrary<RandomScenario>,
  claim: (scenario: RandomScenario, at: readonly At[], first: Played) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(
    arbitrary.map(steadfast),
    fc.infiniteStream(fc.nat()),
    async (scenario, picks) => {
      const first = await playOnce(scenario);
      const places = [...(await placesOf(first))];
      const picked: At[] = [];
      for (const pick of picks) {
        if (places.length === 0 || picked.length >= 8) break;
        picked.push(...places.splice(pick % places.length, 1));
      }
      await claim(scenario, picked, first);
    },
  );
  await fc.assert(property, { seed, numRuns: runs });
}

/** Why a run may not go back to a place where it has been. */
const FAIR_REFUSALS = ['rolled_back', 'not_retained', 'set_aside'];

/** Rows that are in the lists now; what they tell of is not to be done again. */
async function liveResults(run: { readonly world: World }): Promise<ReadonlySet<string>> {
  const history = await run.world.store.getHistory(null, run.world.rootId);
  const live = (history?.rows ?? []).filter((row) => isLive(row) && row.kind === 'result');
  return new Set(live.map((row) => `${row.blockId}@${row.iteration}`));
}

/** What was executed once stays, but for what lies in blocks that begin as a whole beside the target. */
function expectNoneAgain(
  run: Played,
  kept: ReadonlySet<string>,
  scenario: RandomScenario,
  runNo: number,
): void {
  const again = run.calls.filter(
    (call) =>
      call.instanceId === run.instance.id &&
      call.runNo === runNo &&
      kept.has(`${call.blockId}@${call.iteration}`) &&
      !scenario.resettable.has(call.blockId),
  );
  expect(again.map((call) => `${call.blockId}@${call.iteration}`)).toEqual([]);
  const results = run.rows
    .filter((row) => row.kind === 'result')
    .map((row) => `${row.blockId}@${row.iteration}`);
  expect(results.length).toBe(new Set(results).size);
}

const ENDED = ['completed', 'failed', 'cancelled'];

/** A place may refuse to be gone back to for these reasons only. */
const expectFair = (refused: string, ...more: readonly string[]): void =>
  expect([...FAIR_REFUSALS, ...more]).toContain(refused);

describe('resume-from in random trees', () => {
  it(
    'ends as a run that got there anew with the same answers [OP-5] [OP-6]',
    async () => {
      await check(randomScenario({ permanent: 15, retryable: 20 }), async (scenario, places, first) => {
        if (dependsOnTime(scenario)) return;
        for (const at of places) {
          const again = await resumed(scenario, at);
          if (typeof again === 'string') {
            expectFair(again);
            continue;
          }
          expect({ at, ...(outcomeOf(again) as object) }).toEqual({ at, ...(outcomeOf(first) as object) });
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends, runs no kept step again and duplicates no row, whatever races and fails [OP-4] [OP-6] [MEMO-1]',
    async () => {
      await check(randomScenario({ permanent: 15, retryable: 20 }), async (scenario, places) => {
        for (const at of places) {
          const { world } = await playOnce(scenario);
          const refused = await resumeNow(world, at);
          if (refused !== null) {
            expectFair(refused);
            continue;
          }
          const kept = await liveResults({ world });
          const again = await goOn(world);
          expect(ENDED).toContain(again.state);
          expectNoneAgain(again, kept, scenario, 2);
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends alike when the process dies after each commit and before each commit',
    async () => {
      await check(randomScenario({ permanent: 15, retryable: 20 }), async (scenario, places) => {
        for (const at of places.slice(0, 2)) {
          const calm = await resumed(scenario, at);
          if (typeof calm === 'string') continue;
          for (const crashes of ['after_commits', 'before_commits'] as const) {
            const crashed = await resumed(scenario, at, crashes);
            expect(typeof crashed === 'string' ? crashed : essence(crashed)).toEqual(essence(calm));
          }
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'goes on from a pause at any moment: what is in flight beside the block is not begun again [OP-5]',
    async () => {
      const arbitrary = fc
        .tuple(randomScenario({ permanent: 10, retryable: 20 }), fc.integer({ min: 0, max: 9000 }))
        // A worker asks again and again for what a paused run does not give.
        .map(
          ([scenario, at]): RandomScenario => ({
            ...scenario,
            events: [signal(at * 2 + 1, 'pause')],
            untilMs: 100_000,
          }),
        );
      await check(arbitrary, async (scenario, places, first) => {
        for (const at of first.state === 'paused' ? places : []) {
          const { world, frontier } = await playOnce(scenario);
          const before = new Set(frontier.openTasks.map(({ id }) => id));
          const refused = await resumeNow(world, at);
          if (refused !== null) {
            expectFair(refused);
            continue;
          }
          const kept = await liveResults({ world });
          const now = await world.store.getFrontier(null, world.rootId);
          for (const { id } of now?.openTasks ?? []) expect(before.has(id)).toBe(true);
          const again = await goOn(world);
          expect(ENDED).toContain(again.state);
          expectNoneAgain(again, kept, scenario, 2);
        }
      });
    },
    TIMEOUT_MS,
  );

  it(
    'may be done again and again, and be followed by a retry',
    async () => {
      await check(randomScenario({ permanent: 20, retryable: 10 }), async (scenario, places) => {
        const { world } = await playOnce(scenario);
        for (const at of places) {
          const refused = await resumeNow(world, at);
          if (refused === null) await goOn(world);
          else expectFair(refused, 'not_reached');
        }
        const run = await goOn(world);
        expect(ENDED).toContain(run.state);
        const results = run.rows
          .filter((row) => row.kind === 'result')
          .map((row) => `${row.blockId}@${row.iteration}`);
        expect(results.length).toBe(new Set(results).size);
      });
    },
    TIMEOUT_MS,
  );
});

describe('forks of random trees', () => {
  it(
    'end as their source with the same answers, and leave it as it is [OP-7] [OP-8]',
    async () => {
      await check(randomScenario({ permanent: 15, retryable: 20 }), async (scenario, places, first) => {
        const before = await first.world.store.getHistory(null, first.world.rootId);
        for (const at of places) {
          const forked = await forkNow(first.world, at);
          if (typeof forked === 'string') {
            expectFair(forked);
            continue;
          }
          const kept = await liveResults({ world: forked });
          const fork = await goOn(forked);
          expect(ENDED).toContain(fork.state);
          expectNoneAgain(fork, kept, scenario, first.instance.runNo + 1);
          if (dependsOnTime(scenario) || /"a_b_split"/.test(JSON.stringify(scenario.blocks))) continue;
          expect({ at, ...(outcomeOf(fork) as object) }).toEqual({ at, ...(outcomeOf(first) as object) });
        }
        const after = await first.world.store.getHistory(null, first.world.rootId);
        expect({ ...after, now: 0 }).toEqual({ ...before, now: 0 });
      });
    },
    TIMEOUT_MS,
  );
});
