import { describe, expect, it } from 'vitest';
import { steps } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { FunctionWorld } from './support/function-world.ts';
import { TestEngine } from './support/test-engine.ts';

const scripts = { quick: {}, eight: { takesMs: 8_000 }, ten: { takesMs: 10_000 } };
const ONE_TURN = { settings: { maxTurns: 1 } };

/** Blocks in the order in which their handlers were called. */
const order = (world: TestEngine): readonly string[] => world.ledger.entries.map(({ blockId }) => blockId);

describe('work of a higher priority', () => {
  it('goes first between two root blocks once half of the turn is used [SWEEP-3]', async () => {
    const world = new TestEngine({ scripts });
    world.boot(ONE_TURN);
    const low = await world.start(await world.publish(steps('low', 4, 'eight')), { priority: 0 });
    await world.time.pass(1_000);
    const high = await world.start(await world.publish(steps('high', 1, 'quick')), { priority: 2 });
    for (const id of [low, high]) await world.untilEnded(id);
    expect(order(world)).toEqual(['low1', 'low2', 'high1', 'low3', 'low4']);
    expect(world.sentCommits(low).filter(({ settle }) => settle !== null)).toHaveLength(2);
  });

  it('waits for the end of a block that has begun', async () => {
    const world = new TestEngine({ scripts });
    world.boot(ONE_TURN);
    const body = steps('low', 3, 'eight');
    const blocks = [{ type: 'cancellation_scope', id: 'all', blocks: body }, ...steps('end', 1, 'quick')];
    const low = await world.start(await world.publish(blocks));
    await world.time.pass(1_000);
    const high = await world.start(await world.publish(steps('high', 1, 'quick')), { priority: 3 });
    for (const id of [low, high]) await world.untilEnded(id);
    expect(order(world)).toEqual(['low1', 'low2', 'low3', 'high1', 'end1']);
  });

  it('is not looked for by short turns, nor by work that is high itself', async () => {
    const world = new TestEngine({ scripts });
    world.boot(ONE_TURN);
    const short = await world.start(await world.publish(steps('a', 20, 'quick')));
    await world.untilEnded(short);
    const high = await world.start(await world.publish(steps('b', 4, 'eight')), { priority: 2 });
    await world.time.pass(1_000);
    const critical = await world.start(await world.publish(steps('c', 1, 'quick')), { priority: 3 });
    for (const id of [high, critical]) await world.untilEnded(id);
    expect(world.countCalls('hasHigherDue')).toBe(0);
    expect(order(world).slice(20)).toEqual(['b1', 'b2', 'b3', 'b4', 'c1']);
  });

  it('is asked for at most once a second, and not at all costs', async () => {
    const world = new TestEngine({ scripts: { ...scripts, short: { takesMs: 300 } } });
    world.boot(ONE_TURN);
    world.faults = faultAt('hasHigherDue', 0, { kind: 'fail-before' }, 99);
    const blocks = [...steps('long', 2, 'eight'), ...steps('short', 10, 'short')];
    await world.untilEnded(await world.start(await world.publish(blocks), { priority: 0 }));
    expect(world.countCalls('hasHigherDue')).toBeGreaterThanOrEqual(3);
    expect(world.countCalls('hasHigherDue')).toBeLessThanOrEqual(5);
  });

  it('goes first on a function host as well, which hands the rest to a fresh invocation', async () => {
    // The message of the one that starts later is lost: until the sweep nobody but the question finds it.
    const world = new FunctionWorld({ scripts }, ({ delayMs }) => (delayMs > 0 ? [] : [0]));
    world.boot();
    // Their timeouts fit into what is left after the half, so they would go on.
    const blocks = steps('low', 5, 'ten').map((block) => ({ ...block, timeout: 12_000 }));
    const low = await world.start(await world.publish(blocks), { priority: 0 });
    await world.time.pass(1_000);
    const due = { nextFireAt: world.time.now + 5_000, priority: 3 };
    const high = await world.start(await world.publish(steps('high', 1, 'quick')), due);
    for (const id of [low, high]) await world.untilEnded(id);
    expect(world.countCalls('hasHigherDue')).toBeGreaterThanOrEqual(1);
    expect(world.sentCommits(low).filter(({ settle }) => settle !== null).length).toBeGreaterThanOrEqual(2);
  });
});
