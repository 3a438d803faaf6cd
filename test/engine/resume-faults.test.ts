import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parallel, step } from './support/blocks.ts';
import { LEASE_MS } from './support/engine-process.ts';
import type { FaultKind } from './support/fault-store.ts';
import { RECOVERY_MS, SINGLE_FAULTS } from './support/single-fault.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const ASK_AGAIN_MS = 5_000;

interface Tried {
  readonly world: TestEngine;
  readonly id: string;
  /** Calls of the store that the resume-from and the run after it made. */
  readonly points: number;
}

interface Case {
  readonly name: string;
  readonly run: (world: TestEngine) => Promise<string>;
  readonly blockId: string;
}

/** Which call, counted from the request on, meets which fault. */
interface PlannedFault {
  readonly at: number;
  readonly kind: FaultKind;
}

function makeWorld(planned: PlannedFault | null): { readonly world: TestEngine; readonly arm: () => number } {
  let from = Number.POSITIVE_INFINITY;
  const replace = (): void => {
    world.time.at(world.time.now, () => {
      world.boot();
    });
  };
  const world: TestEngine = new TestEngine({
    scripts: {
      quick: {},
      // What is wrong is put right before the run goes on.
      broken: {
        outcome: (call) =>
          from === Number.POSITIVE_INFINITY
            ? { ok: false, failure: { message: 'broken', retryable: false } }
            : { ok: true, output: { did: call.blockId } },
      },
    },
    faults: {
      decide: ({ index }) => {
        if (planned === null || index !== from + planned.at) return null;
        if (planned.kind.startsWith('freeze')) replace();
        return { kind: planned.kind, forMs: 2.5 * LEASE_MS };
      },
      onCrash: replace,
    },
  });
  world.boot();
  return {
    world,
    arm: () => {
      from = world.calls.calls.length;
      return from;
    },
  };
}

/** A client that asks until it sees the new run. It may see `busy` while a lost process still holds the lease. */
function resumeSurely(world: TestEngine, instanceId: string, blockId: string): void {
  const order = { blockId, iteration: null, data: {}, edit: null, signals: [] };
  const ask = async (): Promise<void> => {
    const { runNo } = await world.view(instanceId);
    const runner = world.live?.engine.runner;
    if (runNo > 1) return;
    if (runner !== undefined) {
      void runner.resume({ tenantId: TENANT, instanceId }, order).catch(() => undefined);
    }
    world.time.at(world.time.now + ASK_AGAIN_MS, () => void ask());
  };
  void ask();
}

async function tryOne({ run, blockId }: Case, planned: PlannedFault | null): Promise<Tried> {
  const { world, arm } = makeWorld(planned);
  const id = await run(world);
  await world.time.calm();
  const from = arm();
  resumeSurely(world, id, blockId);
  const gone = await world.time.until(async () => {
    const { runNo, state } = await world.view(id);
    return runNo === 2 && state === 'completed';
  }, 5 * RECOVERY_MS);
  if (!gone) throw new Error(`${JSON.stringify(await world.view(id))}\n${world.log().join('\n')}`);
  return { world, id, points: world.calls.calls.length - from };
}

const BLOCKS: readonly JsonObject[] = [
  step('a', 'quick'),
  parallel('p', [step('b', 'quick'), step('c', 'broken')], [step('d', 'quick')]),
  step('e', 'quick'),
];

const cases: readonly Case[] = [
  {
    name: 'a failed run',
    blockId: 'c',
    run: async (world) => {
      const id = await world.start(await world.publish(BLOCKS));
      await world.untilState(id, 'failed');
      return id;
    },
  },
  {
    name: 'a paused run with a signal that nobody has taken yet',
    blockId: 'b',
    run: async (world) => {
      const waits = step('w', 'quick', { delay: { duration: 60_000 } });
      const id = await world.start(await world.publish([step('b', 'quick'), waits, step('c', 'broken')]));
      await world.time.calm();
      await world.signal(id, 'pause');
      await world.untilState(id, 'paused');
      await world.signal(id, 'update_context', { data: { told: true } }, { nudge: false });
      return id;
    },
  },
];

describe('a fault at any store call of a resume-from', () => {
  it.each(cases.map((each) => [each.name, each] as const))(
    '%s: goes on exactly once, and runs again only what is asked for [OP-5] [MEMO-1]',
    async (_, each) => {
      const calm = await tryOne(each, null);
      const expected = await told(calm);
      for (let at = 0; at < calm.points; at += 1) {
        for (const kind of SINGLE_FAULTS) {
          const tried = await tryOne(each, { at, kind });
          expect({ at, kind, ...(await told(tried)) }).toEqual({ at, kind, ...expected });
          checkCalls(tried, kind.startsWith('fail') ? 0 : 1);
        }
      }
    },
    300_000,
  );
});

describe('a resume-from that is refused', () => {
  const [failed, paused] = cases;

  async function refusedIn(
    each: Case | undefined,
  ): Promise<{ readonly before: object; readonly after: object }> {
    if (each === undefined) throw new Error('there is no such case');
    const { world } = makeWorld(null);
    const id = await each.run(world);
    await world.time.pass(5_000);
    const before = await world.view(id);
    const order = { blockId: 'zebra', iteration: null, data: {}, edit: null, signals: [] };
    const { runner } = (world.live ?? world.idle()).engine;
    const answer = await world.answered(runner.resume({ tenantId: TENANT, instanceId: id }, order));
    expect(answer).toMatchObject({ status: 'refused', refused: { reason: 'unknown_block' } });
    return { before, after: await world.view(id) };
  }

  it('leaves the run as it is, without the trace of a lease that came and went', async () => {
    const { before, after } = await refusedIn(failed);
    expect(after).toEqual(before);
  });

  it('comes after a signal that was accepted before', async () => {
    const { after } = await refusedIn(paused);
    expect(after).toMatchObject({ state: 'paused', data: { told: true } });
  });
});

async function told({ world, id }: Tried): Promise<object> {
  const rows = await world.store.getHistory(TENANT, id);
  const { data, runNo } = await world.view(id);
  const live = (rows?.rows ?? []).filter((row) => row.supersededBy === null && row.kind === 'result');
  const gone = (rows?.rows ?? []).filter((row) => row.supersededBy !== null && row.kind === 'result');
  const names = (list: typeof live): readonly string[] =>
    list.map(({ blockId, iteration }) => `${blockId}@${iteration}`).toSorted();
  return { data, runNo, live: names(live), gone: names(gone) };
}

/** Within a run each attempt is called once, and once more for each process that was lost. */
function checkCalls({ world }: Tried, lost: number): void {
  const { entries } = world.ledger;
  const keys = entries.map(({ idempotencyKey }) => idempotencyKey);
  for (const key of new Set(keys)) {
    const calls = entries.filter(({ idempotencyKey }) => idempotencyKey === key);
    expect(calls.length, `calls of ${key}`).toBeLessThanOrEqual(1 + lost);
  }
}
