import { beforeEach, describe, expect, it } from 'vitest';
import type { FunctionEngine } from '../../src/engine/function-engine.ts';
import { type HintOutcome, runHints, runSweep } from '../../src/engine/invocation.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import type { Hint } from '../../src/ports/hints.ts';
import { StoreUnavailable } from '../../src/ports/store/store.ts';
import { nextId } from '../support/turn-builder.ts';
import { faultAt } from './support/fault-plans.ts';
import { standardSettings } from './support/engine-process.ts';
import { type FaultPlan, noFaults } from './support/fault-store.ts';
import type { Script } from './support/ledger.ts';
import { TENANT, TestEngine, type TestEngineOptions } from './support/test-engine.ts';

const LIMIT_MS = 60_000;

let world: TestEngine;
let engine: FunctionEngine;
let sent: Hint[];

const scripts: Record<string, Script> = {
  quick: {},
  slow: { takesMs: 20_000 },
  long: { takesMs: 38_000 },
  endless: { takesMs: 3_600_000 },
};
const step = (id: string, handler: string, extra: object = {}) => ({ type: 'step', id, handler, ...extra });

function open(options: TestEngineOptions = {}, faults: FaultPlan = noFaults): void {
  sent = [];
  const queue = {
    send: (hints: readonly Hint[]) => void sent.push(...hints),
    settled: () => Promise.resolve(),
  };
  world = new TestEngine({ scripts, hints: () => queue, faults, ...options });
  // Without room for turns of its own the process leaves each start to the queue.
  const { deps } = world.idle({ settings: { maxTurns: 0 } }).engine;
  engine = { deps, queue, settings: { ...standardSettings, leaseOwner: 'function', leaseMs: null } };
}

/** One invocation that begins now and has the whole limit. */
async function invoke(ids: readonly string[], limitMs = LIMIT_MS): Promise<readonly HintOutcome[]> {
  sent = [];
  return world.answered(runHints(engine, targets(ids), until(limitMs)), limitMs);
}

const targets = (ids: readonly string[]) => ids.map((instanceId) => ({ tenantId: TENANT, instanceId }));

function until(limitMs: number): () => number {
  const end = world.time.now + limitMs;
  return () => end - world.time.now;
}

const start = async (...blocks: readonly object[]) => world.start(await world.publish(blocks as never));
const calledAt = (block: string) => world.ledger.of(block).map(({ at }) => at);

beforeEach(() => open());

describe('an invocation for messages', () => {
  it('begins a step only while five seconds are left, and hints at the rest [TURN-4]', async () => {
    const id = await start(step('a', 'slow'), step('b', 'long'), step('c', 'noop'), step('d', 'quick'));
    expect(await invoke([id], 62_900)).toEqual(['done']);
    expect(Object.keys(await world.outputs(id))).toEqual(['a', 'b']);
    expect(await world.view(id)).toMatchObject({ state: 'scheduled' });
    expect(sent).toEqual([{ tenantId: TENANT, instanceId: id, delayMs: 0 }]);
    expect(await invoke([id])).toEqual(['done']);
    expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('leaves a step whose timeout does not fit any more to a fresh one', async () => {
    const id = await start(step('a', 'slow'), step('b', 'quick', { timeout: 40_000 }));
    await invoke([id]);
    expect(calledAt('b')).toEqual([]);
    expect(sent).toEqual([{ tenantId: TENANT, instanceId: id, delayMs: 0 }]);
    await invoke([id]);
    expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('leaves a step without a timeout to a fresh one when half of the time is gone', async () => {
    const id = await start(step('a', 'slow'), step('b', 'slow'), step('c', 'quick'));
    await invoke([id]);
    expect(calledAt('c')).toEqual([]);
    expect(sent).toEqual([{ tenantId: TENANT, instanceId: id, delayMs: 0 }]);
    await invoke([id]);
    expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('begins a step whose timeout would fit into no invocation when it is fresh', async () => {
    const id = await start(step('a', 'quick', { timeout: 300_000 }));
    await invoke([id]);
    expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('ends a step in time to store that it failed', async () => {
    const began = world.time.now;
    const id = await start(step('a', 'endless'));
    expect(await invoke([id])).toEqual(['done']);
    expect(await world.view(id)).toMatchObject({ state: 'failed' });
    expect(world.ledger.of('a')[0]?.abortedAt).toBe(began + LIMIT_MS - 2_000);
  });

  it('holds a lease for its time limit and thirty seconds more', async () => {
    await start(step('a', 'quick'));
    const id = await start(step('b', 'quick'));
    await invoke([id], 45_000);
    const [claim] = world.calls.calls.filter(({ operation }) => operation === 'claimOne');
    expect(claim?.args[0]).toMatchObject({ leaseMs: 75_000, mode: 'hint' });
  });

  it.each([
    [1_000, 3],
    [4_000, 2],
    [1, 8],
  ])('asks for seconds and no longer when each claim takes %i ms to fail', async (takesMs, tries) => {
    const id = await start(step('a', 'quick'));
    let asked = 0;
    const claimOne = () =>
      new Promise<never>((_resolve, reject) => {
        asked += 1;
        const error = new StoreUnavailable('it sleeps', { unknown: false });
        engine.deps.clock.after(takesMs, () => reject(error));
      });
    const store = new Proxy(engine.deps.store, {
      get: (target, name) => (name === 'claimOne' ? claimOne : Reflect.get(target, name)),
    });
    engine = { ...engine, deps: { ...engine.deps, store } };
    expect(await invoke([id])).toEqual(['retry']);
    expect(asked).toBe(tries);
  });

  it('works at several instances at once, and one after the other where there are more', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => start(step('a', 'slow'))));
    engine = { ...engine, settings: { ...engine.settings, maxTurns: 2 } };
    expect(await invoke(ids)).toEqual(['done', 'done', 'done']);
    const [first = 0, second, third] = calledAt('a');
    expect([second, third]).toEqual([first, first + 20_000]);
  });

  it('gives back what it has no time to begin', async () => {
    const ids = await Promise.all([1, 2].map(() => start(step('a', 'slow'))));
    engine = { ...engine, settings: { ...engine.settings, maxTurns: 1 } };
    expect(await invoke(ids, 24_000)).toEqual(['done', 'unstarted']);
  });

  it('asks again while the database wakes up, without an attempt being lost', async () => {
    let refusals = 3;
    const plan: FaultPlan = {
      ...noFaults,
      decide: ({ operation }) => {
        if (operation !== 'claimOne' || refusals === 0) return null;
        refusals -= 1;
        return { kind: 'fail-before' };
      },
    };
    open({}, plan);
    const id = await start(step('a', 'quick'));
    expect(await invoke([id])).toEqual(['done']);
    expect(world.ledger.of('a')).toMatchObject([{ attempt: 0, redelivery: false }]);
  });

  it.each(['claimOne', 'commit'] as const)(
    'reports a message when %s cannot reach the database',
    async (lost) => {
      open(
        {},
        { ...noFaults, decide: ({ operation }) => (operation === lost ? { kind: 'fail-before' } : null) },
      );
      const id = await start(step('a', 'quick'));
      const outcomes = world.answered(runHints(engine, targets([id]), until(LIMIT_MS)), 600_000);
      expect(await outcomes).toEqual(['retry']);
    },
  );

  it('does not report a message whose turn met a defect', async () => {
    const id = await start(step('a', 'quick'));
    const fails = () => Promise.reject(new Error('a defect'));
    const broken = { plan: fails, planOf: fails };
    engine = { ...engine, deps: { ...engine.deps, definitions: broken } };
    expect(await invoke([id])).toEqual(['done']);
    expect(world.log().join()).toContain('a turn broke off');
  });

  it('sends a wait ahead as a delay, up to fifteen minutes', async () => {
    const short = await start(step('a', 'quick', { delay: { duration: 900_000 } }));
    const long = await start(step('a', 'quick', { delay: { duration: 900_001 } }));
    await invoke([short, long]);
    expect(sent).toEqual([{ tenantId: TENANT, instanceId: short, delayMs: 900_000 }]);
  });
});

describe('an invocation of the sweep', () => {
  it('runs what is due and ends when the last turn has', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => start(step('a', 'slow'))));
    expect(await world.answered(runSweep(engine, until(LIMIT_MS)), LIMIT_MS)).toMatchObject({
      result: { claimed: 3 },
      problem: null,
    });
    for (const id of ids) expect(await world.view(id)).toMatchObject({ state: 'completed' });
  });

  it('runs what it has claimed when the answer is lost again and again (RULINGS A24)', async () => {
    open({}, faultAt('claimDue', 0, { kind: 'fail-after' }, 4));
    const id = await start(step('a', 'quick'));
    await world.answered(runSweep(engine, until(LIMIT_MS)), LIMIT_MS);
    expect(await world.view(id)).toMatchObject({ state: 'completed', epoch: 1 });
  });

  it('takes over what has lost its lease when the answer is lost again and again (RULINGS A24)', async () => {
    open({}, faultAt('claimExpired', 0, { kind: 'fail-after' }, 4));
    const id = await start(step('a', 'quick'));
    const gone = { leaseToken: nextId(), leaseOwner: 'gone', leaseMs: 1_000 };
    await world.store.claimOne({ tenantId: TENANT, instanceId: id, ...gone, mode: 'hint' });
    await world.time.pass(1_000);
    await world.answered(runSweep(engine, until(LIMIT_MS)), LIMIT_MS);
    expect(await world.view(id)).toMatchObject({ state: 'completed', epoch: 2 });
  });

  it('fails when the database cannot be reached, after what it had begun', async () => {
    let claims = 0;
    const plan: FaultPlan = {
      ...noFaults,
      decide: ({ operation }) => {
        if (operation === 'claimDue') claims += 1;
        return operation === 'claimDue' && claims > 1 ? { kind: 'fail-before' } : null;
      },
    };
    open({}, plan);
    engine = { ...engine, settings: { ...engine.settings, maxTurns: 1 } };
    const ids = await Promise.all([1, 2].map(() => start(step('a', 'slow'))));
    const { problem } = await world.answered(runSweep(engine, until(LIMIT_MS)), LIMIT_MS);
    expect(problem).toBeInstanceOf(StoreUnavailable);
    const states = await Promise.all(ids.map(async (id) => (await world.view(id)).state));
    expect(states.toSorted()).toEqual(['completed', 'scheduled']);
  });
});

describe('a request', () => {
  it('takes a fact in, begins nothing, and hints at what has become due', async () => {
    const id = await start(step('a', 'quick', { wait_for_input: { prompt: 'go on?' } }));
    await invoke([id]);
    await world.signal(id, 'custom:human_input:a', { value: 'yes' }, { nudge: false });
    sent = [];
    const runner = createRequestRunner(engine);
    expect(runner.hasRoom()).toBe(false);
    await world.answered(runner.nudge({ tenantId: TENANT, instanceId: id }));
    await runner.settled();
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', data: { a: 'yes' } });
    expect(world.ledger.entries).toEqual([]);
    expect(sent).toEqual([{ tenantId: TENANT, instanceId: id, delayMs: 0 }]);
  });

  it('whose claim is answered late is not over before the instance is free again', async () => {
    const late = faultAt('claimOne', 1, { kind: 'slow-after', forMs: 7_000 });
    open({}, late);
    const id = await start(step('a', 'quick', { wait_for_input: { prompt: 'go on?' } }));
    await invoke([id]);
    await world.signal(id, 'custom:human_input:a', { value: 'yes' }, { nudge: false });
    const runner = createRequestRunner(engine);
    const begun = world.time.now;
    await world.answered(runner.nudge({ tenantId: TENANT, instanceId: id }));
    expect(world.time.now - begun).toBe(2_000);
    await world.answered(runner.settled());
    expect(world.time.now - begun).toBe(7_000);
    expect((await world.store.nextWake()).leaseUntil).toBeNull();
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', data: { a: 'yes' } });
  });
});
