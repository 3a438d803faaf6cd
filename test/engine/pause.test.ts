import { describe, expect, it } from 'vitest';
import { sleepStep, step } from './support/blocks.ts';
import { LEASE_MS } from './support/engine-process.ts';
import { faultAt } from './support/fault-plans.ts';
import { TestEngine } from './support/test-engine.ts';

const scripts = { quick: {}, charge: { takesMs: 10_000 } };
const PAUSE = { kind: 'set_state', state: 'paused', nextFireAt: null } as const;

describe('pause and resume (16, RULINGS A40)', () => {
  it('CAN-5: what a cancel lets end is not paused, neither by signal nor by command', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const shielded = { type: 'cancellation_scope', id: 'x', blocks: [sleepStep('s', 20_000)] };
    const id = await world.start(await world.publish([shielded, step('b', 'quick')]));
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.time.pass(1000);
    await world.signal(id, 'pause');
    await world.time.pass(1000);
    expect(await world.answered(world.operate(id, PAUSE))).toMatchObject({ status: 'illegal' });
    expect((await world.untilEnded(id, 30_000)).state).toBe('cancelled');
  });

  it('TURN-2: the running step finishes and is committed, nothing new starts, and resume goes on', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    await world.signal(id, 'pause');
    await world.time.pass(60_000);
    const paused = await world.view(id);
    expect(paused).toMatchObject({ state: 'paused', leaseUntil: null, dueAt: null });
    expect(Object.keys(await world.outputs(id))).toEqual(['a']);
    expect(world.ledger.of('b')).toEqual([]);
    await world.signal(id, 'resume');
    expect((await world.untilEnded(id, 1000)).state).toBe('completed');
  });

  it('A40: as a command under a live lease it takes effect at once, and the answer waits for it', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    const answer = await world.answered(world.operate(id, PAUSE));
    expect(answer).toEqual({ status: 'done', state: 'paused' });
    await world.time.pass(60_000);
    expect((await world.view(id)).state).toBe('paused');
    expect(world.ledger.of('a')).toHaveLength(1);
    expect(Object.keys(await world.outputs(id))).toEqual(['a']);
  });

  it('A40: under the lease of another process it takes effect within the next look at running handlers', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    const other = world.boot();
    const answer = await world.answered(world.operate(id, PAUSE, other));
    expect(answer.status === 'done' || answer.status === 'busy').toBe(true);
    await world.untilState(id, 'paused', 250);
  });

  it('SIG-6: pause and resume that wait together leave the run as it was; the other way round it is paused', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const sequence = await world.publish([step('a', 'charge'), step('b', 'quick')]);
    const going = await world.start(sequence);
    const stopped = await world.start(sequence);
    await world.time.pass(1000);
    for (const type of ['pause', 'resume']) await world.signal(going, type, null, { nudge: false });
    for (const type of ['resume', 'pause']) await world.signal(stopped, type, null, { nudge: false });
    expect((await world.untilEnded(going, 15_000)).state).toBe('completed');
    expect((await world.view(stopped)).state).toBe('paused');
  });

  it('SLEEP: a parked sleep takes a pause, and its time passes meanwhile [SLEEP-3]', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([sleepStep('nap', 20_000), step('b', 'quick')]));
    await world.time.pass(1000);
    await world.signal(id, 'pause');
    await world.untilState(id, 'paused', 1000);
    await world.time.pass(60_000);
    expect((await world.view(id)).state).toBe('paused');
    await world.signal(id, 'resume');
    expect((await world.untilEnded(id, 1000)).state).toBe('completed');
  });

  it('a pause whose process dies before it looked takes effect when the lease is taken over', async () => {
    const world = new TestEngine({ scripts });
    const first = world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    first.crash();
    await world.signal(id, 'pause', null, { nudge: false });
    world.boot();
    await world.untilState(id, 'paused', LEASE_MS + 20_000);
    expect(world.ledger.of('a')).toHaveLength(1);
    await world.signal(id, 'resume');
    await world.untilEnded(id);
    expect(world.ledger.of('a').map(({ redelivery, attempt }) => [redelivery, attempt])).toEqual([
      [false, 0],
      [true, 0],
    ]);
  });
});

describe('signals to a running instance', () => {
  it('SIG-4: what is accepted while the last commit is under way is processed before the run ends', async () => {
    const world = new TestEngine({
      scripts,
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 50 }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.calm();
    await world.signal(id, 'update_context', { data: { late: true } }, { nudge: false });
    const ended = await world.untilEnded(id, 1000);
    expect(ended.state).toBe('completed');
    expect(ended.data).toEqual({ late: true });
    expect(world.ledger.of('a')).toHaveLength(1);
  });

  it('SIG-5: what comes while the turn settles is processed at once, without the sweep', async () => {
    const world = new TestEngine({
      scripts,
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 50 }),
    });
    world.boot({ settings: { sweepMs: 3_600_000 } });
    const id = await world.start(await world.publish([step('a', 'packing')]));
    await world.time.calm();
    await world.signal(id, 'update_context', { data: { seen: true } }, { nudge: false });
    await world.time.pass(1000);
    expect((await world.view(id)).data).toEqual({ seen: true });
  });

  it('SIG-5: two facts in quick succession are both looked at, although the first look is still under way', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: { sweepMs: 3_600_000 } });
    const id = await world.start(await world.publish([step('a', 'packing')]));
    await world.time.pass(1000);
    world.faults = faultAt('claimOne', 0, { kind: 'slow-after', forMs: 100 });
    await world.signal(id, 'update_context', { data: { first: true } });
    await world.time.pass(10);
    await world.signal(id, 'update_context', { data: { second: true } });
    await world.time.pass(1000);
    expect((await world.view(id)).data).toEqual({ first: true, second: true });
  });

  it('SIG-3: a signal that is sent twice takes effect once', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.pass(1000);
    const signalId = world.nextId();
    await world.signal(id, 'pause', null, { signalId });
    await world.time.pass(1000);
    await world.signal(id, 'resume');
    await world.time.pass(1000);
    const repeat = await world.signal(id, 'pause', null, { signalId });
    expect(repeat.status).toBe('repeated');
    expect((await world.untilEnded(id)).state).toBe('completed');
  });
});
