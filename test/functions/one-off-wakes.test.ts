import { describe, expect, it } from 'vitest';
import { createSchedule } from '../../src/engine/schedules.ts';
import { step } from '../engine/support/blocks.ts';
import { broken, faultAt, outage } from '../engine/support/fault-plans.ts';
import { noFaults } from '../engine/support/fault-store.ts';
import { LIMIT_MS } from '../engine/support/function-world.ts';
import { runScenario } from '../engine/support/run-scenario.ts';
import { scenarios } from '../engine/support/scenarios.ts';
import { checkEffects, checkEnd, faultless } from '../engine/support/single-fault.ts';
import { TENANT, type TestEngineOptions } from '../engine/support/test-engine.ts';
import { ScheduledWorld } from './support/scheduled-world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** With what rounding up to a minute adds. */
const GUARD_MS = LIMIT_MS + 2 * MINUTE_MS;
const QUARTER_MS = 15 * MINUTE_MS;
const quick = { quick: {} };
const named = scenarios.map((scenario) => [scenario.name, scenario] as const);
const gapsOf = (instants: readonly number[]) =>
  instants.slice(1).map((at, index) => at - (instants[index] ?? 0));

describe('economy mode with schedules of one call (RULINGS A33)', () => {
  it.each(named)('%s: ends although every message is lost, by wakes alone', async (_, scenario) => {
    const expected = await faultless(scenario);
    const world = (options: TestEngineOptions) => new ScheduledWorld(options);
    const run = await runScenario(scenario, () => noFaults, {}, world);
    checkEnd(scenario, run.end, expected.end);
    checkEffects(run.calls, 0);
  });

  it('an idle hour after the last work has no wake and no statement', async () => {
    const world = new ScheduledWorld({ scripts: quick });
    world.boot();
    await world.untilEnded(await world.start(await world.publish([step('a', 'quick')])));
    await world.time.pass(3 * GUARD_MS);
    const before = { wakes: world.wakes.length, calls: world.calls.calls.length };
    await world.time.pass(HOUR_MS);
    expect({ wakes: world.wakes.length, calls: world.calls.calls.length }).toEqual(before);
  });

  it('the wake after a burst finds nothing by one statement, and asks for no other', async () => {
    const world = new ScheduledWorld({ scripts: quick });
    world.boot();
    await world.untilEnded(await world.start(await world.publish([step('a', 'quick')])));
    const [, guard] = [await world.time.pass(1_000), [...world.schedules.keys()]];
    expect(guard).toHaveLength(1);
    const before = { calls: world.calls.calls.length, asked: world.asked };
    await world.time.pass(GUARD_MS);
    const operations = world.calls.calls.slice(before.calls).map(({ operation }) => operation);
    expect({ operations, asked: world.asked }).toEqual({ operations: ['lookForWork'], asked: before.asked });
    expect(world.schedules.size).toBe(0);
  });

  it('an idle safety sweep is one statement and keeps no wake; with a sleep ahead it keeps that one', async () => {
    const world = new ScheduledWorld({ scripts: quick });
    world.boot();
    world.sweep();
    await world.time.pass(HOUR_MS);
    expect(world.calls.calls.map(({ operation }) => operation)).toEqual(['lookForWork']);
    expect([world.wakes.length, world.asked]).toEqual([1, 0]);
    world.keepsWakes = false;
    const dueAt = world.time.now + 5 * HOUR_MS;
    await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: dueAt });
    const before = world.calls.calls.length;
    world.sweep();
    await world.time.pass(HOUR_MS);
    expect(world.calls.calls.slice(before).map(({ operation }) => operation)).toEqual(['lookForWork']);
    expect([...world.schedules.values()]).toEqual([(Math.floor(dueAt / MINUTE_MS) - 1) * MINUTE_MS]);
    expect([world.wakes.length, world.asked]).toEqual([2, 1]);
  });

  it.each([
    ['lookForWork', 'crash-before'],
    ['lookForWork', 'crash-after'],
    ['claimDue', 'crash-before'],
    ['claimDue', 'crash-after'],
    ['commit', 'crash-before'],
    ['commit', 'crash-after'],
  ] as const)('a wake that dies at %s (%s) is followed by another one', async (operation, kind) => {
    const world = new ScheduledWorld({ scripts: quick, faults: faultAt(operation, 0, { kind }) });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'quick'), step('b', 'quick'), step('c', 'quick')]),
    );
    expect((await world.untilEnded(id, 3 * GUARD_MS)).state).toBe('completed');
  });

  it('what has claimed has kept a wake before, also when it dies and the host does not repeat it', async () => {
    const world = new ScheduledWorld({
      scripts: quick,
      faults: faultAt('claimDue', 0, { kind: 'crash-after' }),
    });
    world.boot();
    world.keepsWakes = false;
    const id = await world.start(await world.publish([step('a', 'quick')]));
    world.sweep();
    await world.time.pass(1_000);
    expect(world.schedules.size).toBe(1);
    expect((await world.untilEnded(id, GUARD_MS)).state).toBe('completed');
  });

  it('what is started while a wake looks, and after its look, has the wake of its starter', async () => {
    const faults = faultAt('lookForWork', 0, { kind: 'slow-after', forMs: 20_000 });
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    world.sweep();
    await world.time.pass(10_000);
    const now = await world.start(sequence);
    const later = await world.start(sequence, { nextFireAt: world.time.now + HOUR_MS });
    await world.time.pass(20_000);
    expect(world.wakes).toHaveLength(1);
    expect((await world.untilEnded(now, GUARD_MS)).state).toBe('completed');
    expect((await world.untilEnded(later, HOUR_MS + MINUTE_MS)).state).toBe('completed');
  });

  it('wakes that cannot claim what is due do not forget what falls due later', async () => {
    const faults = outage(['claimDue'], { kind: 'fail-before' });
    faults.on = false;
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    const id = await world.start(sequence, { nextFireAt: world.time.now + HOUR_MS });
    const now = await world.start(sequence);
    faults.on = true;
    await world.time.pass(2 * GUARD_MS);
    faults.on = false;
    expect(world.countCalls('claimDue')).toBeGreaterThan(0);
    expect((await world.untilEnded(now, GUARD_MS)).state).toBe('completed');
    expect((await world.untilEnded(id, HOUR_MS)).state).toBe('completed');
  });

  it('a wake that finds no database comes again each minute', async () => {
    const faults = outage(['lookForWork', 'claimDue'], { kind: 'fail-before' });
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(HOUR_MS);
    faults.on = false;
    expect((await world.untilEnded(id, 2 * MINUTE_MS)).state).toBe('completed');
  });
});

describe('wakes on schedules of one call that fail for another reason than the database', () => {
  it.each([
    ['one process', true],
    ['a new process each time', false],
  ])('come at last four times an hour, for ever, in %s', async (_, isWarm) => {
    const faults = broken(['claimDue']);
    const world = new ScheduledWorld({ scripts: quick, faults, isWarm });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(3 * HOUR_MS);
    const asked = world.calls.calls.filter(({ operation }) => operation === 'claimDue');
    const before = asked.length;
    await world.time.pass(20 * HOUR_MS);
    const often = world.countCalls('claimDue') - before;
    // A new process does not know that the host repeats an invocation which has kept another wake: three times as many.
    expect(often).toBeGreaterThanOrEqual(20 * 4);
    expect(often).toBeLessThanOrEqual((isWarm ? 1 : 3) * 20 * 5);
    faults.on = false;
    expect((await world.untilEnded(id, QUARTER_MS + MINUTE_MS)).state).toBe('completed');
    await world.time.pass(HOUR_MS);
    expect(world.schedules.size).toBe(0);
  });

  it('come at last as seldom when each dies before it has told anybody, and go on', async () => {
    const faults = outage(['claimDue'], { kind: 'crash-before' });
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(3 * HOUR_MS);
    const before = world.countCalls('claimDue');
    await world.time.pass(20 * HOUR_MS);
    // Each is repeated twice by the host.
    expect(world.countCalls('claimDue') - before).toBeGreaterThanOrEqual(20 * 4);
    expect(world.countCalls('claimDue') - before).toBeLessThanOrEqual(3 * 20 * 5);
    faults.on = false;
    expect((await world.untilEnded(id, QUARTER_MS + MINUTE_MS)).state).toBe('completed');
  });

  it('come at growing pauses, and say each time what is wrong and how late the oldest run is', async () => {
    const faults = broken(['claimDue']);
    const world = new ScheduledWorld({ scripts: quick, faults, isWarm: true });
    world.boot();
    await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(2 * HOUR_MS);
    const said = world.lines.filter(({ message }) => message.startsWith('a wake could not'));
    const claims = world.calls.calls.filter(({ operation }) => operation === 'claimDue');
    expect(said.map(({ at }) => at)).toEqual(claims.map(({ at }) => at));
    expect(said.map(({ fields }) => fields['failed_wakes'])).toEqual(said.map((_line, index) => index + 1));
    for (const { fields } of said) expect(fields['error']).toContain('claimDue is broken');
    const gaps = gapsOf(claims.map(({ at }) => at));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(QUARTER_MS + MINUTE_MS);
    for (const gap of gaps.slice(8)) expect(gap).toBeGreaterThanOrEqual(QUARTER_MS * 0.8 - MINUTE_MS);
    const late = world.lines
      .filter(({ message }) => message === 'swept')
      .map(({ fields }) => fields['oldest_due_ms']);
    expect(late).toHaveLength(said.length);
    expect(Math.max(...late.map(Number))).toBeGreaterThan(HOUR_MS);
  });

  it('begin anew after one that did everything', async () => {
    const faults = broken(['claimDue']);
    const world = new ScheduledWorld({ scripts: quick, faults, isWarm: true });
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    await world.start(sequence);
    await world.time.pass(2 * HOUR_MS);
    faults.on = false;
    await world.time.pass(HOUR_MS);
    faults.on = true;
    const { length } = world.lines;
    await world.start(sequence);
    await world.time.pass(GUARD_MS + MINUTE_MS);
    const said = world.lines.slice(length).filter(({ message }) => message.startsWith('a wake could not'));
    expect(said.slice(0, 2).map(({ fields }) => fields['failed_wakes'])).toEqual([1, 2]);
  });

  it('are not those that did everything: a schedule each minute has one wake each minute', async () => {
    const world = new ScheduledWorld({ scripts: quick, isWarm: true });
    const { useCases } = world.boot();
    const schedule = {
      tenantId: TENANT,
      namespace: 'fulfilment',
      sequenceId: await world.publish([step('a', 'quick')]),
      cronExpr: '* * * * *',
      timezone: 'UTC',
      enabled: true,
      metadata: {},
      overlapPolicy: 'allow',
    } as const;
    await createSchedule(useCases, { tenantId: null, isAdmin: true }, schedule);
    world.sweep();
    await world.time.pass(2 * HOUR_MS);
    const before = { wakes: world.wakes.length, fired: world.countCalls('fireSchedule') };
    await world.time.pass(HOUR_MS);
    expect(world.countCalls('fireSchedule') - before.fired).toBe(60);
    expect(world.wakes.length - before.wakes).toBe(60);
    expect(world.schedules.size).toBe(1);
  });

  it('do not hold up what falls due of another kind', async () => {
    const faults = broken(['claimExpired']);
    faults.on = false;
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    world.faults = faultAt('commit', 0, { kind: 'crash-before' });
    await world.start(sequence);
    await world.time.pass(GUARD_MS);
    faults.on = true;
    world.faults = faults;
    await world.time.pass(2 * HOUR_MS);
    const id = await world.start(sequence, { nextFireAt: world.time.now + HOUR_MS });
    expect((await world.untilEnded(id, HOUR_MS + MINUTE_MS)).state).toBe('completed');
  });
});
