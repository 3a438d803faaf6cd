import { describe, expect, it } from 'vitest';
import { step } from '../../engine/support/blocks.ts';
import { faultAt, outage } from '../../engine/support/fault-plans.ts';
import { noFaults } from '../../engine/support/fault-store.ts';
import { LIMIT_MS } from '../../engine/support/function-world.ts';
import { hintFates } from '../../engine/support/hint-faults.ts';
import { runScenario } from '../../engine/support/run-scenario.ts';
import { scenarios } from '../../engine/support/scenarios.ts';
import { checkEffects, checkEnd, faultless } from '../../engine/support/single-fault.ts';
import type { TestEngineOptions } from '../../engine/support/test-engine.ts';
import { EconomyWorld } from '../support/economy-world.ts';

const HOUR_MS = 3_600_000;
/** A guard comes when the lease of its invocation has ended (RULINGS A33). */
const GUARD_MS = LIMIT_MS + 60_000;
const QUARTER_MS = 15 * 60_000;
const operationsOf = (world: EconomyWorld, from = 0) =>
  world.calls.calls.slice(from).map(({ operation }) => operation);
const named = scenarios.map((scenario) => [scenario.name, scenario] as const);

describe('economy mode, without a cron trigger (RULINGS A33)', () => {
  it.each(named)('%s: ends although every message is lost, by wakes alone', async (_, scenario) => {
    const expected = await faultless(scenario);
    const world = (options: TestEngineOptions) => new EconomyWorld(options, hintFates.dropped);
    const run = await runScenario(scenario, () => noFaults, {}, world);
    checkEnd(scenario, run.end, expected.end);
    checkEffects(run.calls, 0);
  });

  it('an idle hour asks the database nothing, and no alarm is left', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.untilEnded(id);
    await world.time.pass(2 * GUARD_MS);
    const before = world.calls.calls.length;
    expect(world.alarmAt).toBeNull();
    await world.time.pass(HOUR_MS);
    expect(world.calls.calls.slice(before)).toEqual([]);
  });

  it('the wake after a burst finds nothing by one statement', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } });
    world.boot();
    await world.untilEnded(await world.start(await world.publish([step('a', 'quick')])));
    await world.time.pass(1_000);
    const before = world.calls.calls.length;
    await world.time.pass(2 * GUARD_MS);
    expect(operationsOf(world, before)).toEqual(['lookForWork']);
    expect(world.alarms).toHaveLength(1);
  });

  it('an idle safety sweep is one statement and keeps no wake; with a sleep ahead it keeps that one', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } }, hintFates.dropped);
    world.boot();
    world.safetySweep();
    await world.time.pass(HOUR_MS);
    expect(operationsOf(world)).toEqual(['lookForWork']);
    expect([world.alarms, world.alarmAt, world.asked]).toEqual([[], null, []]);
    world.keepsWakes = false;
    const dueAt = world.time.now + 5 * HOUR_MS;
    await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: dueAt });
    const before = world.calls.calls.length;
    world.safetySweep();
    await world.time.pass(HOUR_MS);
    expect(operationsOf(world, before)).toEqual(['lookForWork']);
    expect([world.alarms, world.alarmAt, world.asked]).toEqual([[], dueAt, ['/wake']]);
  });

  it('a safety sweep that dies between its look and its wake has changed nothing: the next one does it', async () => {
    const faults = faultAt('lookForWork', 0, { kind: 'crash-after' });
    const world = new EconomyWorld({ scripts: { quick: {} }, faults }, hintFates.dropped);
    world.boot();
    world.keepsWakes = false;
    const id = await world.start(await world.publish([step('a', 'quick')]));
    const before = world.calls.calls.length;
    world.safetySweep();
    await world.time.pass(6 * HOUR_MS);
    expect(operationsOf(world, before)).toEqual(['lookForWork']);
    world.safetySweep();
    expect((await world.untilEnded(id, 1_000)).state).toBe('completed');
  });

  it.each([
    ['claimDue', 'crash-before'],
    ['claimDue', 'crash-after'],
    ['commit', 'crash-before'],
    ['commit', 'crash-after'],
  ] as const)('a safety sweep that dies at %s (%s) has kept a wake before', async (operation, kind) => {
    const world = new EconomyWorld(
      { scripts: { quick: {} }, faults: faultAt(operation, 0, { kind }) },
      hintFates.dropped,
    );
    world.boot();
    world.keepsWakes = false;
    const id = await world.start(await world.publish([step('a', 'quick')]));
    world.safetySweep();
    await world.time.pass(1_000);
    expect(world.alarmAt).not.toBeNull();
    expect((await world.untilEnded(id, 2 * GUARD_MS)).state).toBe('completed');
  });

  it.each([
    ['lookForWork', 'crash-after'],
    ['claimDue', 'crash-before'],
    ['claimDue', 'crash-after'],
  ] as const)('an alarm that dies at %s (%s) is followed by another one', async (operation, kind) => {
    const world = new EconomyWorld(
      { scripts: { quick: {} }, faults: faultAt(operation, 0, { kind }) },
      hintFates.dropped,
    );
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    expect((await world.untilEnded(id, 3 * GUARD_MS)).state).toBe('completed');
  });

  it.each([
    ['a safety sweep', (world: EconomyWorld) => Promise.resolve(world.safetySweep())],
    ['an alarm', (world: EconomyWorld) => world.wake()],
  ])('what is started while %s looks, and after its look, has the wake of its starter', async (_, look) => {
    const faults = faultAt('lookForWork', 0, { kind: 'slow-after', forMs: 20_000 });
    const world = new EconomyWorld({ scripts: { quick: {} }, faults }, hintFates.dropped);
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    await look(world);
    await world.time.pass(10_000);
    const now = await world.start(sequence);
    const later = await world.start(sequence, { nextFireAt: world.time.now + HOUR_MS });
    const keptAt = world.alarmAt;
    await world.time.pass(20_000);
    expect(keptAt).not.toBeNull();
    expect(world.alarmAt).toBe(keptAt);
    expect((await world.untilEnded(now, GUARD_MS)).state).toBe('completed');
    expect((await world.untilEnded(later, HOUR_MS + 1_000)).state).toBe('completed');
  });

  it('a sleep of forty days asks nothing until it ends, and ends at its instant', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } });
    world.boot();
    const delay = { duration: 40 * 24 * HOUR_MS };
    const id = await world.start(await world.publish([step('a', 'quick', { delay })]));
    const dueAt = world.time.now + delay.duration;
    await world.time.pass(2 * GUARD_MS);
    const before = world.calls.calls.length;
    await world.time.pass(dueAt - world.time.now - 1_000);
    expect(world.calls.calls.slice(before)).toEqual([]);
    await world.untilEnded(id, 2_000);
  });

  it.each(['2263-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
    'what is due at %s lets the database sleep, and is looked for once a year',
    async (text) => {
      const world = new EconomyWorld({ scripts: { quick: {} } });
      world.boot();
      await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: Date.parse(text) });
      await world.time.pass(2 * GUARD_MS);
      const before = world.calls.calls.length;
      expect(world.alarmAt).toBeGreaterThan(world.time.now + 300 * 24 * HOUR_MS);
      await world.time.pass(300 * 24 * HOUR_MS);
      expect(world.calls.calls.slice(before)).toEqual([]);
      await world.time.pass(66 * 24 * HOUR_MS);
      expect(operationsOf(world, before)).toEqual(['lookForWork']);
      expect(world.alarmAt).toBeGreaterThan(world.time.now + 200 * 24 * HOUR_MS);
    },
  );

  it('a start or a signal moves the wake forward, and nothing moves it back', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } }, hintFates.dropped);
    world.boot();
    const later = [step('a', 'quick', { delay: { duration: 10 * HOUR_MS } })];
    await world.start(await world.publish(later));
    await world.time.pass(2 * GUARD_MS);
    expect(world.alarmAt).toBeGreaterThan(world.time.now + 9 * HOUR_MS);
    const id = await world.start(await world.publish([step('b', 'quick')]));
    expect(world.alarmAt).toBe(world.time.now + GUARD_MS);
    const kept = world.alarmAt;
    await world.start(await world.publish(later));
    expect(world.alarmAt).toBe(kept);
    await world.untilEnded(id, GUARD_MS + 1_000);
  });

  it.each(['crash-before', 'crash-after'] as const)(
    'an invocation that dies in a commit (%s) is taken over by a wake, with every message lost after it',
    async (kind) => {
      const world = new EconomyWorld(
        { scripts: { quick: {} }, faults: faultAt('commit', 1, { kind }) },
        (_, nth) => (nth === 0 ? [0] : []),
      );
      world.boot();
      const id = await world.start(
        await world.publish([step('a', 'quick'), step('b', 'quick'), step('c', 'quick')]),
      );
      await world.untilEnded(id, 2 * GUARD_MS);
      checkEffects(world.ledger.entries, 1);
    },
  );

  it('the same invocation is lost for ever when no wake was kept before it wrote', async () => {
    const world = new EconomyWorld({ scripts: { quick: {} } }, hintFates.dropped);
    world.boot();
    world.keepsWakes = false;
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await expect(world.untilEnded(id, 24 * HOUR_MS)).rejects.toThrow('is still scheduled');
  });

  it('a wake that finds no database comes again twice a minute until there is one', async () => {
    const database = outage(['claimDue'], { kind: 'fail-before' });
    const world = new EconomyWorld({ scripts: { quick: {} }, faults: database }, hintFates.dropped);
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(HOUR_MS);
    expect(world.countCalls('claimDue')).toBeGreaterThan(100);
    expect(world.countCalls('claimDue')).toBeLessThan(125);
    database.on = false;
    await world.untilEnded(id, 31_000);
  });

  it('wakes that break off again and again are followed by others, also when the platform has given up repeating them', async () => {
    const breaks = outage(['lookForWork'], { kind: 'crash-before' });
    const world = new EconomyWorld({ scripts: { quick: {} }, faults: breaks }, hintFates.dropped);
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(HOUR_MS);
    const { length } = world.calls.calls;
    await world.time.pass(HOUR_MS);
    expect(world.calls.calls.length).toBeGreaterThan(length);
    breaks.on = false;
    await world.untilEnded(id, QUARTER_MS);
    await world.time.pass(QUARTER_MS);
    expect(world.alarmAt).toBeNull();
  });

  it('a task whose worker is gone comes back, although its silence may last longer than a guard [WRK-10]', async () => {
    const settings = { silentTaskMs: 10 * GUARD_MS };
    const world = new EconomyWorld({ scripts: {}, settings }, hintFates.dropped);
    world.boot();
    await world.start(await world.publish([step('a', 'packing')]));
    await world.time.pass(GUARD_MS + 1_000);
    await world.keep();
    expect(await world.poll('packing')).toMatchObject({ claimEpoch: 1 });
    await world.time.pass(9 * GUARD_MS);
    expect(await world.poll('packing')).toBeNull();
    await world.time.pass(GUARD_MS + 1_000);
    expect(await world.poll('packing')).toMatchObject({ claimEpoch: 2 });
  });

  it('what is due while the deployment drains is looked at twice a minute', async () => {
    const node = { id: '01900000-0000-8000-8000-000000000001', name: 'functions' };
    const often = { beatMs: 5_000, silentMs: 120_000, reapEveryMs: 60_000 };
    const settings = { node: { ...node, ...often } };
    const world = new EconomyWorld({ scripts: { quick: {} }, settings }, hintFates.dropped);
    world.boot();
    await world.store.heartbeatNode(node.id, node.name, null);
    await world.store.drainNode(node.id);
    await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(HOUR_MS);
    // Each looks before its sweep and after it.
    expect(world.countCalls('lookForWork')).toBeGreaterThan(200);
    expect(world.countCalls('lookForWork')).toBeLessThan(250);
    expect(world.ledger.entries).toEqual([]);
  });
});
