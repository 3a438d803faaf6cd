import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Played, essence, playOnce } from './support/play.ts';
import { type RandomScenario, randomScenario } from './support/random-scenario.ts';
import { type Crashes, cancelAt, retryAt } from './support/script.ts';
import { randomSeed } from './support/seed.ts';

/**
 * Random trees of all block types with random outcomes. A failure prints its seed; `STEPWELL_SEED=<seed> npx vitest run
 * test/run/random-nesting.test.ts` repeats it (`random` for others), and `STEPWELL_RUNS` sets how many scenarios each claim
 * is tried on.
 */
const seed = randomSeed();
const runs = Number(process.env['STEPWELL_RUNS'] ?? 40);
const TIMEOUT_MS = 60_000 + runs * 1000;

async function check(
  arbitrary: fc.Arbitrary<RandomScenario>,
  claim: (scenario: RandomScenario) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty(arbitrary, claim), { seed, numRuns: runs });
}

/**
 * Of items that ask one rate key side by side, who asks first is given first. A crash makes them ask in another order, so
 * that such a run ends with the same results at other times.
 */
const competes = ({ blocks }: RandomScenario): boolean => {
  const text = JSON.stringify(blocks);
  return text.includes('"rate_limit_key"') && /"concurrency":[2-9]/.test(text);
};

/** The same end, with and without crashes. */
async function expectAlike(scenario: RandomScenario, crashes: readonly Crashes[]): Promise<void> {
  fc.pre(!competes(scenario));
  const calm = essence(await playOnce(scenario));
  for (const crash of crashes) expect(essence(await playOnce(scenario, crash))).toEqual(calm);
}

const ENDED = ['completed', 'failed', 'cancelled'];

/** Nothing of an ended run is still open, and what its children did is over too. */
async function expectAllEnded(run: Played): Promise<void> {
  expect(ENDED).toContain(run.state);
  expect(run.frontier.openTasks).toEqual([]);
  const children = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
  expect(children.filter((child) => !ENDED.includes(child.state))).toEqual([]);
  await expectNobodyWaitsForEvents(run);
}

/** No wait outlives its gate: an event that comes now is for nobody ([WAIT-6]). */
async function expectNobodyWaitsForEvents({ world, instance }: Played): Promise<void> {
  for (const blockId of Object.keys(world.scenario.arrivals ?? {})) {
    for (const eventName of ['first', 'second']) {
      const id = world.newId();
      const correlationKey = `${instance.id} ${blockId}`;
      const event = { id, tenantId: instance.tenantId, producerEventId: id, correlationKey, payload: null };
      expect(await world.store.acceptEvent({ ...event, eventName })).toMatchObject({ match: null });
    }
  }
}

function expectOneResultPerPass(run: Played): void {
  const results = run.rows
    .filter((row) => row.kind === 'result')
    .map((row) => `${row.blockId}@${row.iteration}`);
  expect(results.length).toBe(new Set(results).size);
}

describe('random nesting', () => {
  it(
    'always ends, with one result per leaf and pass, whatever fails',
    async () => {
      await check(randomScenario({ injects: true, permanent: 15, retryable: 20 }), async (scenario) => {
        const run = await playOnce(scenario);
        await expectAllEnded(run);
        expectOneResultPerPass(run);
        const failed = run.nodes.some((node) => node.parentId === null && node.state === 'failed');
        expect(run.state).toBe(failed ? 'failed' : 'completed');
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends alike when the process dies after each commit and before each commit',
    async () => {
      await check(randomScenario({ injects: true, permanent: 15, retryable: 20 }), async (scenario) => {
        await expectAlike(scenario, ['after_commits', 'before_commits']);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends as cancelled or failed after a cancel at any moment, and starts only what is protected',
    async () => {
      const cancelled = fc
        .tuple(
          randomScenario({ injects: true, permanent: 10, retryable: 20 }),
          fc.integer({ min: 0, max: 9000 }),
        )
        .map(([scenario, at]): RandomScenario => ({ ...scenario, events: [cancelAt(at * 2 + 1)] }));
      await check(cancelled, async (scenario) => {
        const at = scenario.events?.[0]?.at ?? 0;
        const whole = await playOnce({ ...scenario, events: [] });
        const run = await playOnce(scenario);
        await expectAllEnded(run);
        expectOneResultPerPass(run);
        const over = whole.endedAtMs < at;
        expect(over || run.state !== 'completed').toBe(true);
        const late = run.calls.filter((call) => call.atMs > at && call.instanceId === run.instance.id);
        expect(late.filter((call) => !scenario.shielded.has(call.blockId))).toEqual([]);
        expect(
          over ? [] : run.nodes.filter((node) => node.parentId === null && node.state === 'pending'),
        ).toEqual([]);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends alike with crashes when it is cancelled',
    async () => {
      const cancelled = fc
        .tuple(
          randomScenario({ injects: true, permanent: 10, retryable: 20 }),
          fc.integer({ min: 0, max: 9000 }),
        )
        .map(([scenario, at]): RandomScenario => ({ ...scenario, events: [cancelAt(at * 2 + 1)] }));
      await check(cancelled, async (scenario) => {
        await expectAlike(scenario, ['after_commits']);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'completes after a retry when the handlers succeed, without running again what is completed',
    async () => {
      await check(randomScenario({ injects: true, permanent: 25, retryable: 10 }), async (scenario) => {
        const first = await playOnce(scenario);
        const run = await playOnce({ ...scenario, events: [retryAt(1_000_000)] });
        expect(run.state).toBe('completed');
        const before = new Set(
          first.rows.filter((row) => row.kind === 'result').map((row) => `${row.blockId}@${row.iteration}`),
        );
        const again = run.calls.filter(
          (call) =>
            call.runNo > 1 &&
            before.has(`${call.blockId}@${call.iteration}`) &&
            !scenario.resettable.has(call.blockId),
        );
        expect(again.map((call) => call.blockId)).toEqual([]);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'ends alike with crashes when it is retried',
    async () => {
      await check(randomScenario({ injects: true, permanent: 25, retryable: 10 }), async (scenario) => {
        const retried = { ...scenario, events: [retryAt(1_000_000)] };
        await expectAlike(retried, ['after_commits', 'before_commits']);
      });
    },
    TIMEOUT_MS,
  );
});
