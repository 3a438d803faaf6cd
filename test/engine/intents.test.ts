import { describe, expect, it } from 'vitest';
import { parallel, step, steps } from './support/blocks.ts';
import { LEASE_MS } from './support/engine-process.ts';
import { faultAt } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const openIntents = async (world: TestEngine, id: string) =>
  ((await world.store.getFrontier(TENANT, id))?.frames ?? []).flatMap(({ leaf }) =>
    leaf?.state === 'running' && leaf.dispatchedAt !== null ? [leaf] : [],
  );

describe('intents of a turn (RULINGS A9, A20 to A22)', () => {
  it('A22: the claim is the intent of the first leaf, which is called before anything is written', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 1000 } } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.calm();
    expect(world.ledger.of('a')).toHaveLength(1);
    expect(world.calls.calls.filter(({ operation }) => operation === 'commit')).toEqual([]);
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('A9: the intent of the next leaf is stored with the result before it [COMMIT-1] [COMMIT-2]', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 1000 } } });
    world.boot();
    const id = await world.start(await world.publish(steps('s', 3, 'charge')));
    await world.time.pass(1500);
    expect(world.ledger.of('s2')).toHaveLength(1);
    expect(await openIntents(world, id)).toHaveLength(1);
    expect(world.calls.calls.filter(({ operation }) => operation === 'commit')).toHaveLength(1);
  });

  it('A22: the intent of an at-most-once step is durable before its first call', async () => {
    const world = new TestEngine({
      scripts: { charge: { takesMs: 1000 } },
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 500 }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge', { on_uncertain: 'fail' })]));
    await world.time.pass(400);
    expect(world.ledger.entries).toEqual([]);
    await world.time.pass(200);
    expect(world.ledger.entries).toHaveLength(1);
    expect(await openIntents(world, id)).toHaveLength(1);
  });

  it('A9: a fact that comes with the commit withholds the intent, and the leaf is called after it is processed', async () => {
    const world = new TestEngine({
      scripts: { charge: {}, ship: {} },
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 100 }),
    });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'charge'), step('b', 'ship', { params: { note: '{{data.note}}' } })]),
    );
    await world.time.calm();
    await world.signal(id, 'update_context', { data: { note: 'fragile' } }, { nudge: false });
    await world.untilEnded(id);
    expect(world.ledger.of('b').map(({ params, redelivery }) => ({ params, redelivery }))).toEqual([
      { params: { note: 'fragile' }, redelivery: false },
    ]);
  });

  it('A21: a pause withdraws the intent, so that the step is no redelivery when the run goes on', async () => {
    const world = new TestEngine({
      scripts: { charge: {}, ship: {} },
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 100 }),
    });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'charge'), step('b', 'ship', { on_uncertain: 'fail' })]),
    );
    await world.time.calm();
    await world.signal(id, 'pause', null, { nudge: false });
    await world.untilState(id, 'paused');
    expect(world.ledger.of('b')).toEqual([]);
    expect(await openIntents(world, id)).toEqual([]);
    await world.signal(id, 'resume');
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('b').map(({ redelivery }) => redelivery)).toEqual([false]);
  });

  it('A21: a commit for pure leaves carries no intent of another branch that is not called with it', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 10 } } });
    world.boot();
    const pure = steps('p', 70, 'noop');
    const effects = [step('e', 'charge', { on_uncertain: 'fail' })];
    const id = await world.start(await world.publish([parallel('both', pure, effects)]));
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('e').map(({ redelivery }) => redelivery)).toEqual([false]);
  });

  it('A23: a process that wakes after its lease calls nothing, although its commit had been granted', async () => {
    const world = new TestEngine({
      scripts: { charge: {}, ship: {} },
      faults: faultAt('commit', 0, { kind: 'freeze-after', forMs: 5 * LEASE_MS }),
    });
    const frozen = world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'ship')]));
    await world.time.calm();
    world.boot();
    const ended = await world.untilEnded(id, 2 * LEASE_MS);
    await world.time.pass(6 * LEASE_MS);
    expect(world.ledger.of('b').map(({ process, redelivery }) => [process, redelivery])).toEqual([
      ['process-2', true],
    ]);
    expect(await world.view(id)).toEqual(ended);
    expect(frozen.engine.runner.activeTurns).toBe(0);
  });

  it('A23: a process that was frozen while it renewed its lease starts nothing more under it', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 30_000 }, ship: {} } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'ship')]));
    world.faults = faultAt('renewLeases', 0, { kind: 'freeze-after', forMs: 5 * LEASE_MS });
    await world.time.pass(25_000);
    world.boot();
    await world.untilEnded(id);
    await world.time.pass(6 * LEASE_MS);
    expect(world.ledger.of('b').map(({ process }) => process)).toEqual(['process-2']);
  });
});
