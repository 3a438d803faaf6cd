import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { LEASE_MS } from './support/engine-process.ts';
import { faultAt, outage } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

describe('a turn that has lost its lease', () => {
  it('I5: writes nothing, and its handlers are told to stop', async () => {
    const world = new TestEngine({
      scripts: { charge: { takesMs: 2000 }, long: { takesMs: 500_000, listens: true } },
    });
    const first = world.boot();
    const id = await world.start(
      await world.publish([
        { type: 'parallel', id: 'both', branches: [[step('a', 'charge')], [step('b', 'long')]] },
      ]),
    );
    await world.time.pass(1000);
    first.freeze(2 * LEASE_MS);
    await world.time.pass(1000);
    world.boot();
    await world.time.pass(LEASE_MS + 20_000);
    const before = await world.store.getFrontier(TENANT, id);
    expect(before?.instance.leaseOwner).toBe('process-2');
    await world.time.pass(2 * LEASE_MS);
    const after = await world.store.getFrontier(TENANT, id);
    expect(after?.instance.epoch).toBe(before?.instance.epoch);
    expect(after?.frames).toEqual(before?.frames);
    const stopped = world.ledger.of('b').filter(({ process }) => process === 'process-1');
    expect(stopped.map(({ abortedAt }) => abortedAt !== null)).toEqual([true]);
    expect(first.engine.runner.activeTurns).toBe(0);
  });

  it('A8: a commit whose answer was lost is sent again, known as already there, and nothing runs twice', async () => {
    const world = new TestEngine({
      scripts: { charge: {}, ship: {} },
      faults: faultAt('commit', 0, { kind: 'fail-after' }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'ship')]));
    const ended = await world.untilEnded(id, 5000);
    expect(ended.state).toBe('completed');
    expect(ended.rev).toBe(2);
    expect(world.ledger.entries.map(({ blockId }) => blockId)).toEqual(['a', 'b']);
    expect(world.calls.calls.filter(({ operation }) => operation === 'commit')).toHaveLength(3);
  });

  it('A8: a settle whose answer was lost is known as already there, although it gave the lease back', async () => {
    const world = new TestEngine({
      scripts: { charge: {} },
      faults: faultAt('commit', 0, { kind: 'fail-after' }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    expect((await world.untilEnded(id, 5000)).state).toBe('completed');
    await world.time.pass(10 * LEASE_MS);
    expect(world.ledger.entries).toHaveLength(1);
  });

  it('A8: while the outcome of a commit is unknown no handler is called', async () => {
    const lost = outage(['commit'], { kind: 'fail-after' });
    const world = new TestEngine({ scripts: { charge: {}, ship: {} }, faults: lost });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'ship')]));
    await world.time.pass(10_000);
    expect(world.ledger.of('b')).toEqual([]);
    lost.on = false;
    expect((await world.untilEnded(id, 5000)).state).toBe('completed');
    expect(world.ledger.entries.map(({ blockId, redelivery }) => [blockId, redelivery])).toEqual([
      ['a', false],
      ['b', false],
    ]);
  });

  it('keeps a result through an outage that is shorter than the lease', async () => {
    const down = outage(['commit', 'renewLeases', 'peekInbox', 'readOutputs', 'claimOne'], {
      kind: 'fail-unsure',
    });
    const world = new TestEngine({ scripts: { charge: {} }, faults: down });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.pass(LEASE_MS - 5000);
    down.on = false;
    expect((await world.untilEnded(id, 5000)).state).toBe('completed');
    expect(world.ledger.entries).toHaveLength(1);
  });

  it('keeps a result through an outage that is longer than the lease, when nobody took it over', async () => {
    const down = outage(['commit', 'renewLeases', 'peekInbox', 'claimOne', 'claimExpired', 'claimDue'], {
      kind: 'fail-unsure',
    });
    down.on = false;
    const world = new TestEngine({ scripts: { charge: { takesMs: 3 * LEASE_MS } }, faults: down });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.calm();
    down.on = true;
    await world.time.pass(3 * LEASE_MS - 1000);
    down.on = false;
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.entries).toHaveLength(1);
  });

  it('A24: an operator is answered although the answer of the claim is lost again and again', async () => {
    const world = new TestEngine({ scripts: { charge: {} } });
    world.boot();
    const sequence = await world.publish([step('a', 'charge')]);
    const id = await world.start(sequence, { nextFireAt: world.time.now + 60_000 });
    world.faults = faultAt('claimOne', 0, { kind: 'fail-after' }, 4);
    const cancel = { kind: 'set_state', state: 'cancelled', nextFireAt: null } as const;
    const answer = await world.answered(world.operate(id, cancel));
    expect(answer).toMatchObject({ status: 'done' });
  });

  it('A24: a claim whose answer was lost is asked for once more and runs at once', async () => {
    const world = new TestEngine({ scripts: { charge: {} } });
    const sequence = await world.publish([step('a', 'charge')]);
    const at = world.time.now + 5000;
    world.boot();
    const id = await world.start(sequence, { nextFireAt: at });
    world.faults = faultAt('claimDue', 0, { kind: 'fail-after' });
    const ended = await world.untilEnded(id, 6000);
    expect(ended.updatedAt).toBe(at);
    expect(ended.recoveryCount).toBe(0);
    expect(ended.epoch).toBe(1);
  });
});
