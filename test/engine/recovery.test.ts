import { describe, expect, it } from 'vitest';
import { parallel, step, steps } from './support/blocks.ts';
import { LEASE_MS, SWEEP_MS } from './support/engine-process.ts';
import { faultAt } from './support/fault-plans.ts';
import type { Script } from './support/ledger.ts';
import { verified } from './support/reshaping.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const RECOVERY_MS = LEASE_MS + SWEEP_MS + 30_000;

/** A world whose processes die when a handler called `poison` begins, as often as said. */
function poisonedWorld(deaths: number): TestEngine {
  let left = deaths;
  const world: TestEngine = new TestEngine({
    scripts: {
      quick: {},
      slow: { takesMs: 500 },
      poison: {
        takesMs: 100,
        outcome: (call) => {
          if (left > 0) {
            left -= 1;
            for (const process of world.processes) process.crash();
            world.time.at(world.time.now, () => void world.boot());
          }
          return { ok: true, output: { did: call.blockId, attempt: call.attempt } };
        },
      },
    },
  });
  world.boot();
  return world;
}

describe('recovery after a crash (6.5)', () => {
  it('REC-2: the attempt is delivered again with the same number and key, and the handler is told', async () => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('a', 'quick'), step('b', 'poison')]));
    const ended = await world.untilEnded(id, RECOVERY_MS);
    expect(ended.state).toBe('completed');
    const [first, second] = world.ledger.of('b');
    expect(second).toMatchObject({ attempt: first?.attempt, idempotencyKey: first?.idempotencyKey });
    expect([first?.redelivery, second?.redelivery]).toEqual([false, true]);
    expect(world.ledger.of('a')).toHaveLength(1);
  });

  it('REC-2: it is told although the first leaf of a turn leaves no intent behind', async () => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('b', 'poison')]));
    await world.untilEnded(id, RECOVERY_MS);
    expect(world.ledger.of('b').map(({ redelivery }) => redelivery)).toEqual([false, true]);
  });

  it('RULINGS A20: a crash uses up no try', async () => {
    const world = poisonedWorld(2);
    const retry = { max_attempts: 1, initial_backoff: 0, max_backoff: 0 };
    const id = await world.start(await world.publish([step('b', 'poison', { retry })]));
    const ended = await world.untilEnded(id, 3 * RECOVERY_MS);
    expect(ended.state).toBe('completed');
    expect(world.ledger.of('b').map(({ attempt }) => attempt)).toEqual([0, 0, 0]);
  });

  it('REC-3: a run that ends its process again and again is given up with MAX_RETRIES_EXCEEDED', async () => {
    const world = poisonedWorld(1000);
    const id = await world.start(await world.publish([step('a', 'quick'), step('b', 'poison')]));
    const ended = await world.untilEnded(id, 10 * RECOVERY_MS);
    expect(ended.state).toBe('failed');
    expect(ended.failure).toMatchObject({ blockId: 'b', error: { code: 'MAX_RETRIES_EXCEEDED' } });
    // In company, beside one other suspect, and alone, which is what counts.
    expect(world.ledger.of('b')).toHaveLength(2 + 4);
  });

  it.each([
    ['a branch', parallel('p', [step('b', 'poison')])],
    ['a pass', { type: 'loop', id: 'l', condition: 'true', max_iterations: 2, body: [step('b', 'poison')] }],
  ])('REC-3: a run that is given up in %s follows from its rows (RULINGS B2)', async (_name, block) => {
    const world = poisonedWorld(100);
    const id = await world.start(await world.publish([step('a', 'quick'), block]));
    const ended = await world.untilEnded(id, 10 * RECOVERY_MS);
    expect(ended.failure?.error).toMatchObject({ code: 'MAX_RETRIES_EXCEEDED' });
    expect(await verified(world, id)).toEqual([]);
  });

  it('REC-3: a committed result sets the count back', async () => {
    const world = poisonedWorld(3);
    const id = await world.start(await world.publish([...steps('b', 2, 'poison'), step('c', 'quick')]));
    await world.untilEnded(id, 10 * RECOVERY_MS);
    expect(await world.view(id)).toMatchObject({ state: 'completed', recoveryCount: 0 });
  });

  it('RULINGS A18: who died with a poisoned run is neither blamed nor held up for long', async () => {
    const world = poisonedWorld(1000);
    const sequence = await world.publish([step('a', 'slow'), step('b', 'slow')]);
    const poison = await world.publish([step('p', 'poison')]);
    const at = world.time.now + 1000;
    const ids = await Promise.all(Array.from({ length: 5 }, () => world.start(sequence, { nextFireAt: at })));
    const bad = await world.start(poison, { nextFireAt: at });
    await world.untilEnded(bad, 20 * RECOVERY_MS);
    for (const id of ids) expect((await world.untilEnded(id, RECOVERY_MS)).state).toBe('completed');
    expect((await world.view(bad)).failure?.error).toMatchObject({ code: 'MAX_RETRIES_EXCEEDED' });
  });

  it('RULINGS A18: after a take-over even the first leaf is called only when its intent is stored', async () => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('b', 'poison')]));
    await world.time.pass(1000);
    world.faults = faultAt('commit', 0, { kind: 'slow-before', forMs: 1000 });
    await world.time.until(async () => (await world.view(id)).epoch === 2, RECOVERY_MS);
    await world.time.pass(500);
    expect(world.ledger.of('b')).toHaveLength(1);
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('b')).toHaveLength(2);
  });

  it('I27: a parent that is given up takes its children along', async () => {
    const world = poisonedWorld(1000);
    await world.publish([step('c', 'packing')], { name: 'child' });
    const sequence = await world.publish([
      parallel(
        'both',
        [{ type: 'sub_sequence', id: 'sub', sequence_name: 'child' }],
        [step('wait', 'slow'), step('b', 'poison')],
      ),
    ]);
    const id = await world.start(sequence);
    expect((await world.untilEnded(id, 10 * RECOVERY_MS)).state).toBe('failed');
    await world.time.pass(RECOVERY_MS);
    const children = (await world.store.listChildren(TENANT, id)) ?? [];
    expect(children.map(({ state }) => state)).toEqual(['cancelled']);
  });
});

describe('steps that run at most once (RULINGS B10)', () => {
  it('fail: ends with UNKNOWN_OUTCOME after a crash and is never called again', async () => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('b', 'poison', { on_uncertain: 'fail' })]));
    const ended = await world.untilEnded(id, RECOVERY_MS);
    expect(ended).toMatchObject({
      state: 'failed',
      failure: { blockId: 'b', error: { code: 'UNKNOWN_OUTCOME' } },
    });
    expect(world.ledger.of('b')).toHaveLength(1);
  });

  it('B1: a retry of an unknown outcome keeps the key, one of a definite failure has a new one', async () => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('b', 'poison', { on_uncertain: 'fail' })]));
    await world.untilEnded(id, RECOVERY_MS);
    expect(await world.answered(world.operate(id, { kind: 'retry' }))).toEqual({
      status: 'done',
      state: 'scheduled',
    });
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(new Set(world.ledger.of('b').map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it.each([
    ['done', 'completed', 1],
    ['not_done', 'completed', 2],
    ['failed', 'failed', 1],
  ] as const)('ask: a person answers %s and the run is %s', async (value, state, calls) => {
    const world = poisonedWorld(1);
    const id = await world.start(await world.publish([step('b', 'poison', { on_uncertain: 'ask' })]));
    await world.untilState(id, 'waiting', RECOVERY_MS);
    const gates = await world.store.listOpenGates({
      ...{ tenantId: TENANT, namespace: null, instanceId: id, sequenceId: null, limit: 10, offset: 0 },
    });
    expect(gates.items.map(({ frame }) => frame.leaf?.gate?.kind)).toEqual(['outcome']);
    await world.signal(id, 'custom:human_input:b', { value });
    expect((await world.untilEnded(id)).state).toBe(state);
    expect(world.ledger.of('b')).toHaveLength(calls);
  });
});

describe('retry of a failed run by an operator (20.1)', () => {
  const refusing = (times: number): Script => {
    let left = times;
    return {
      outcome: (call) => {
        left -= 1;
        return left >= 0
          ? { ok: false, failure: { message: 'refused', retryable: false } }
          : { ok: true, output: { did: call.blockId, attempt: call.attempt } };
      },
    };
  };

  it('OP-2, OP-4: what completed is not run again, what failed is, under a new key and run', async () => {
    const world = new TestEngine({ scripts: { quick: {}, refusing: refusing(1) } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick'), step('b', 'refusing')]));
    const failed = await world.untilState(id, 'failed');
    expect(await world.answered(world.operate(id, { kind: 'retry' }))).toEqual({
      status: 'done',
      state: 'scheduled',
    });
    const ended = await world.untilState(id, 'completed', 1000);
    expect(ended.runId).not.toBe(failed.runId);
    expect(ended.failure).toBeNull();
    expect(world.ledger.of('a')).toHaveLength(1);
    const keys = world.ledger.of('b').map(({ idempotencyKey, attempt }) => [idempotencyKey, attempt]);
    expect(keys).toEqual([
      [`${id}:${failed.runId}:b:-`, 0],
      [`${id}:${ended.runId}:b:-`, 0],
    ]);
    expect(Object.keys(await world.outputs(id))).toEqual(['a', 'b']);
  });

  it('OP-1: only from failed; two at once begin one run', async () => {
    const world = new TestEngine({ scripts: { quick: {}, refusing: refusing(1) } });
    world.boot();
    const id = await world.start(await world.publish([step('b', 'refusing'), step('c', 'quick')]));
    await world.untilState(id, 'failed');
    const answers = await world.answered(
      Promise.all([world.operate(id, { kind: 'retry' }), world.operate(id, { kind: 'retry' })]),
    );
    expect(answers.filter(({ status }) => status === 'done')).toHaveLength(1);
    const ended = await world.untilState(id, 'completed', 1000);
    expect(ended.runNo).toBe(2);
    expect(world.ledger.of('b')).toHaveLength(2);
    expect(await world.answered(world.operate(id, { kind: 'retry' }))).toEqual({
      status: 'illegal',
      from: 'completed',
    });
  });
});
