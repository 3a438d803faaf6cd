import { describe, expect, it } from 'vitest';
import { createStepSlots } from '../../src/engine/turn-deps.ts';
import { parallel, step, steps } from './support/blocks.ts';
import type { LedgerEntry } from './support/ledger.ts';
import { type Scenario, scenarios } from './support/scenarios.ts';
import { runScenario } from './support/run-scenario.ts';
import { checkEffects, faultless } from './support/single-fault.ts';
import { noFaults } from './support/fault-store.ts';
import { TestEngine } from './support/test-engine.ts';

const RARE_SWEEP = { sweepMs: 3_600_000 };
const scripts = { quick: {}, charge: { takesMs: 1000 } };

/** Notes for each call of a handler, but those of interceptors and escalations, under which claim of which instance it was made. */
function withClaims(scenario: Scenario, claims: Promise<string>[]): Scenario {
  return {
    ...scenario,
    publish: (world) => {
      const note = ({ instanceId, blockId }: Pick<LedgerEntry, 'instanceId' | 'blockId'>): void => {
        if (blockId.startsWith('_interceptor:') || blockId.startsWith('_escalation:')) return;
        claims.push(world.view(instanceId).then(({ epoch }) => `${instanceId} ${epoch}`));
      };
      world.ledger.onCall = note;
      world.ledger.onBuiltIn = note;
      return scenario.publish(world);
    },
  };
}

/** Most calls that ran at the same time. */
function mostAtOnce(world: TestEngine): number {
  const entries = world.ledger.entries;
  return Math.max(
    ...entries.map(
      ({ at }) =>
        entries.filter((other) => other.at <= at && (other.endedAt === null || other.endedAt > at)).length,
    ),
  );
}

describe('one step per invocation (RULINGS B5)', () => {
  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: ends as it does without the bound',
    async (_, scenario) => {
      const expected = await faultless(scenario);
      const claims: Promise<string>[] = [];
      const settings = { maxStepsPerTurn: 1 };
      const bounded = await runScenario(withClaims(scenario, claims), () => noFaults, { settings });
      expect(bounded.end).toEqual(expected.end);
      checkEffects(bounded.calls, 0);
      const calls = await Promise.all(claims);
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
    },
  );

  it('goes on at once, turn after turn, without the sweep [TURN-3]', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: { ...RARE_SWEEP, maxStepsPerTurn: 1 } });
    const id = await world.start(await world.publish(steps('s', 20, 'quick')));
    const ended = await world.untilEnded(id, 100);
    expect(ended).toMatchObject({ state: 'completed', epoch: 20 });
  });
});

describe('steps at once (RULINGS B5)', () => {
  it('never more over all turns than there are slots, and every turn gets its share', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: { ...RARE_SWEEP, maxConcurrentSteps: 3 } });
    const sequence = await world.publish([parallel('p', ...steps('s', 4, 'charge').map((one) => [one]))]);
    const ids = await Promise.all(Array.from({ length: 5 }, () => world.start(sequence)));
    for (const id of ids) expect((await world.untilEnded(id, 20_000)).state).toBe('completed');
    expect(mostAtOnce(world)).toBe(3);
    expect(world.ledger.entries).toHaveLength(20);
  });

  it('at most 32 branches of one turn', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: { ...RARE_SWEEP, maxConcurrentSteps: 100 } });
    const branches = steps('s', 50, 'charge').map((one) => [one]);
    const id = await world.start(await world.publish([parallel('p', ...branches)]));
    expect((await world.untilEnded(id, 10_000)).state).toBe('completed');
    expect(mostAtOnce(world)).toBe(32);
  });

  it('a turn that waits for a slot hears a cancel within 250 ms', async () => {
    const world = new TestEngine({ scripts: { ...scripts, long: { takesMs: 600_000 } } });
    world.boot({ settings: { ...RARE_SWEEP, maxConcurrentSteps: 1 } });
    await world.start(await world.publish([step('a', 'long')]));
    await world.time.pass(10);
    const id = await world.start(await world.publish([step('b', 'quick')]));
    await world.time.pass(1000);
    expect(world.ledger.of('b')).toEqual([]);
    await world.signal(id, 'cancel', null, { nudge: false });
    await world.untilState(id, 'cancelled', 250);
  });

  it('a freed slot wakes those who wait for one', async () => {
    const slots = createStepSlots(1);
    expect([slots.take(2), slots.take(1), slots.take(1)]).toEqual([false, true, false]);
    let woken = 0;
    for (let waiting = 0; waiting < 2; waiting += 1) void slots.freed().then(() => (woken += 1));
    slots.release(1);
    await Promise.resolve();
    expect([woken, slots.free()]).toEqual([2, 1]);
  });
});

describe('turns at once', () => {
  it('a small process works a large backlog off without waiting for the sweep', async () => {
    const world = new TestEngine({ scripts });
    const sequence = await world.publish([step('a', 'charge')]);
    const process = world.boot({ settings: { ...RARE_SWEEP, maxTurns: 4, batchSize: 256 } });
    const at = world.time.now + 1000;
    const ids = await Promise.all(
      Array.from({ length: 100 }, () => world.start(sequence, { nextFireAt: at, on: process })),
    );
    await world.time.pass(40_000);
    const states = await Promise.all(ids.map(async (id) => (await world.view(id)).state));
    expect(new Set(states)).toEqual(new Set(['completed']));
    expect(mostAtOnce(world)).toBeLessThanOrEqual(4);
  });

  it('B7: a run whose turns never come to a commit is paused, and goes on when somebody resumes it', async () => {
    let dying = true;
    const world: TestEngine = new TestEngine({
      scripts,
      settings: { maxRecoveries: 0 },
      faults: {
        decide: ({ operation }) => (dying && operation === 'commit' ? { kind: 'crash-before' } : null),
        onCrash: () => world.time.at(world.time.now, () => void world.boot()),
      },
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    const paused = await world.untilState(id, 'paused', 3_600_000);
    expect(paused).toMatchObject({ epoch: 20, metadata: { paused_reason: 'no_progress' } });
    dying = false;
    await world.signal(id, 'resume');
    expect((await world.untilEnded(id)).state).toBe('completed');
  });
});
