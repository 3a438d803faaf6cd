import { describe, expect, it } from 'vitest';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { LEASE_MS, SWEEP_MS } from './support/engine-process.ts';
import { faultAt, outage } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const RARE_SWEEP = { sweepMs: 3_600_000 };
const scripts = { quick: {}, charge: { takesMs: 1000 }, long: { takesMs: 4 * LEASE_MS } };
const silent = { hints: () => ({ send: () => undefined }) };

describe('the loop of a resident process', () => {
  it('wakes by alarm for the next due instant and touches the database at no other time', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    const at = world.time.now + 50_000;
    const id = await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: at });
    await world.time.pass(10);
    const before = world.calls.calls.length;
    await world.time.pass(49_900);
    expect(world.calls.calls.slice(before)).toEqual([]);
    await world.untilEnded(id, 100);
    expect(world.ledger.of('a').map((call) => call.at)).toEqual([at]);
  });

  it('an earlier instant replaces the alarm, a later one does not', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    const sequence = await world.publish([step('a', 'quick')]);
    const starts = [30_000, 10_000, 20_000].map((ms) => world.time.now + ms);
    for (const nextFireAt of starts) await world.start(sequence, { nextFireAt });
    await world.time.pass(40_000);
    expect(world.ledger.of('a').map((call) => call.at)).toEqual(starts.toSorted((a, b) => a - b));
  });

  it('starts a run that had no slot soon after one is free, long before the sweep [CONC-3]', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.time.pass(10);
    const sequence = await world.publish([step('a', 'charge')]);
    const ids = [1, 2, 3].map(() => world.start(sequence, { concurrencyKey: 'depot' }));
    for (const id of ids) await world.untilEnded(await id, 5_000);
  });

  it('finds by sweep alone what hints were lost for', async () => {
    const world = new TestEngine({ scripts, ...silent });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'packing'), step('b', 'quick')]));
    await world.time.pass(1000);
    const task = await world.poll('packing');
    if (task === null) throw new Error('there is no task');
    await world.report(task, { ok: true, output: null }, false);
    expect((await world.untilEnded(id, SWEEP_MS)).state).toBe('completed');
  });

  it('finds by tick what another process left, long before the sweep', async () => {
    const world = new TestEngine({ scripts, ...silent });
    const other = world.idle();
    world.boot({ settings: { ...RARE_SWEEP, tickMs: 100 } });
    const sequence = await world.publish([step('a', 'quick')]);
    const id = await world.start(sequence, { nextFireAt: world.time.now + 5000, on: other });
    await world.untilEnded(id, 5200);
  });

  it('asks one question a tick while nothing is due', async () => {
    const world = new TestEngine({ scripts, ...silent });
    world.boot({ settings: { ...RARE_SWEEP, tickMs: 100 } });
    await world.start(await world.publish([sleepStep('nap', 3_600_000)]), {
      nextFireAt: world.time.now + 3_600_000,
    });
    await world.time.pass(150);
    const before = world.calls.calls.length;
    await world.time.pass(1_000);
    const asked = world.calls.calls.slice(before).map(({ operation }) => operation);
    expect(asked).toEqual(Array.from({ length: 10 }, () => 'nextWake'));
  });

  it.each([
    ['a sweep', { sweepMs: 500 }, 'lookForWork'],
    ['a tick', { sweepMs: 3_600_000, tickMs: 500 }, 'nextWake'],
  ] as const)('looks as often while a backlog is claimed that %s has found', async (_, settings, look) => {
    const world = new TestEngine({ scripts: { quick: { takesMs: 7 } }, ...silent });
    const sequence = await world.publish([step('a', 'quick')]);
    const other = world.idle();
    world.boot({ settings: { maxTurns: 8, batchSize: 4, ...settings } });
    await world.time.pass(10);
    // No alarm of that process is set for them.
    const nextFireAt = world.time.now + 1;
    for (let count = 0; count < 200; count += 1) await world.start(sequence, { nextFireAt, on: other });
    // Turns end while the next claim is under way, so that each claim is followed by another.
    world.faults = outage(['claimDue'], { kind: 'slow-after', forMs: 100 });
    const before = world.calls.calls.length;
    await world.time.pass(3_500);
    expect(world.ledger.of('a').length).toBeLessThan(200);
    const looks = world.calls.calls.slice(before).filter(({ operation }) => operation === look);
    expect(looks.length).toBeGreaterThanOrEqual(5);
  });

  it('goes on after an outage of the database of any length', async () => {
    const down = outage(
      ['lookForWork', 'claimDue', 'claimExpired', 'nextWake', 'renewLeases', 'peekInbox', 'removeExpired'],
      {
        kind: 'fail-before',
      },
    );
    const world = new TestEngine({ scripts, faults: down });
    world.boot();
    await world.time.pass(600_000);
    down.on = false;
    const id = await world.start(await world.publish([sleepStep('nap', 60_000), step('a', 'quick')]));
    expect((await world.untilEnded(id, 60_000 + SWEEP_MS)).state).toBe('completed');
  });

  it('goes on when the alarm rings into an outage', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([sleepStep('nap', 5000), step('a', 'quick')]));
    await world.time.pass(1000);
    world.faults = faultAt('claimDue', 0, { kind: 'fail-before' });
    expect((await world.untilEnded(id, 5000 + SWEEP_MS)).state).toBe('completed');
  });

  it('CLAIM-3: renews leases while handlers run, so that nobody takes them over', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    world.boot();
    const id = await world.start(await world.publish([step('a', 'long'), step('b', 'quick')]));
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(await world.view(id)).toMatchObject({ epoch: 1 });
    expect(world.ledger.of('a')).toHaveLength(1);
  });

  it('SWEEP-1: many sweeps at once start each due instance once', async () => {
    const world = new TestEngine({ scripts });
    const sequence = await world.publish([step('a', 'charge')]);
    const first = world.idle();
    const at = world.time.now + 1000;
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => world.start(sequence, { nextFireAt: at, on: first })),
    );
    await world.time.pass(1000);
    for (let process = 0; process < 20; process += 1) world.boot();
    for (const id of ids) await world.untilEnded(id);
    expect(world.ledger.of('a')).toHaveLength(50);
    expect(new Set(world.ledger.of('a').map(({ instanceId }) => instanceId)).size).toBe(50);
  });

  it('WRK-10: a silent worker loses its task to another one', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    await world.start(await world.publish([step('a', 'packing')]));
    await world.time.pass(1000);
    const task = await world.poll('packing', 'worker-1');
    await world.time.pass(60_000 + SWEEP_MS);
    const again = await world.poll('packing', 'worker-2');
    expect(again).toMatchObject({ id: task?.id, redelivery: true, idempotencyKey: task?.idempotencyKey });
    if (task === null) throw new Error('there is no task');
    expect(await world.report(task, { ok: true, output: 1 })).toBe('stale');
  });
});

describe('stopping a process', () => {
  it('waits for the running step, commits it, starts nothing more and leaves the run due at once', async () => {
    const world = new TestEngine({ scripts });
    const process = world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(500);
    await world.answered(process.engine.loop.stop());
    expect(await world.view(id)).toMatchObject({
      state: 'scheduled',
      leaseUntil: null,
      dueAt: world.time.now,
    });
    expect(world.ledger.of('b')).toEqual([]);
    world.boot();
    expect((await world.untilEnded(id, 1000)).state).toBe('completed');
    expect(world.ledger.of('a')).toHaveLength(1);
  });

  it('keeps the lease of a long step until the step has ended', async () => {
    const world = new TestEngine({ scripts });
    const process = world.boot();
    const id = await world.start(await world.publish([step('a', 'long'), step('b', 'quick')]));
    await world.time.pass(500);
    world.boot();
    await world.answered(process.engine.loop.stop(), 5 * LEASE_MS);
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('a')).toHaveLength(1);
    expect(await world.view(id)).toMatchObject({ recoveryCount: 0, epoch: 2 });
  });

  it('lets a cancel reach the step that it waits for', async () => {
    const world = new TestEngine({ scripts });
    const process = world.boot();
    const id = await world.start(await world.publish([step('a', 'long')]));
    await world.time.pass(500);
    const stopped = process.engine.loop.stop();
    await world.signal(id, 'cancel', null, { nudge: false });
    await world.answered(stopped, 250);
    expect((await world.view(id)).state).toBe('cancelled');
  });

  it('gives back what a claim under way still brings', async () => {
    const world = new TestEngine({ scripts });
    const process = world.boot({ settings: RARE_SWEEP });
    const at = world.time.now + 5000;
    const id = await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: at });
    world.faults = faultAt('claimDue', 0, { kind: 'slow-after', forMs: 2000 });
    await world.time.pass(5500);
    expect((await world.view(id)).leaseOwner).toBe('process-1');
    await world.answered(process.engine.loop.stop());
    expect(await world.view(id)).toMatchObject({ leaseUntil: null, state: 'scheduled' });
    expect(world.ledger.entries).toEqual([]);
  });

  it('does not wait for a slot that others hold', async () => {
    const world = new TestEngine({ scripts, settings: { maxConcurrentSteps: 1 } });
    const process = world.boot();
    const sequence = await world.publish([parallel('p', [step('a', 'charge')], [step('b', 'charge')])]);
    const id = await world.start(sequence);
    await world.time.pass(500);
    await world.answered(process.engine.loop.stop(), 600);
    expect(world.ledger.entries.map(({ blockId }) => blockId)).toEqual(['a']);
    const frontier = await world.store.getFrontier(TENANT, id);
    expect(frontier?.instance).toMatchObject({ state: 'scheduled', leaseUntil: null });
  });
});
