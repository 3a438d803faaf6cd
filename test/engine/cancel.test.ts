import { describe, expect, it } from 'vitest';
import { parallel, step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const scripts = {
  quick: {},
  charge: { takesMs: 10_000 },
  listening: { takesMs: 10_000, listens: true },
};

describe('cancelling a run whose handler runs (17.2)', () => {
  it('CAN-8: the signal fires within 250 ms, the run ends at once and the result is dropped', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    const at = world.time.now;
    await world.signal(id, 'cancel', null, { nudge: false });
    const ended = await world.untilState(id, 'cancelled', 250);
    const [call] = world.ledger.of('a');
    expect(call?.abortedAt).toBeLessThanOrEqual(at + 250);
    await world.time.pass(20_000);
    expect(call?.endedAt).not.toBeNull();
    expect(await world.outputs(id)).toEqual({});
    expect(await world.view(id)).toEqual(ended);
    expect(world.ledger.of('b')).toEqual([]);
  });

  it('CAN-8: a result that comes together with the cancel is dropped as well', async () => {
    const world = new TestEngine({
      scripts,
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 100 }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick'), step('b', 'quick')]));
    await world.time.calm();
    await world.signal(id, 'cancel', null, { nudge: false });
    await world.untilState(id, 'cancelled');
    expect(await world.outputs(id)).toEqual({});
    expect(world.ledger.of('b')).toEqual([]);
  });

  it('RULINGS A10: of a result that came too late the journal tells', async () => {
    const world = new TestEngine({
      scripts,
      faults: faultAt('commit', 0, { kind: 'slow-before', forMs: 100 }),
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick'), step('b', 'quick')]));
    await world.time.calm();
    await world.signal(id, 'cancel', null, { nudge: false });
    await world.untilState(id, 'cancelled');
    const journal = world.sentCommits(id).at(-1)?.journal ?? [];
    const late = journal.filter(({ kind }) => kind === 'late_result');
    expect(late.map(({ kind, details }) => [kind, details])).toEqual([
      ['late_result', { block_id: 'a', attempt: 0, outcome: 'succeeded' }],
    ]);
  });

  it('CAN-8: a step that may not be cancelled finishes and leaves its row; what follows never starts', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'charge', { cancellable: false }), step('b', 'quick')]),
    );
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.time.pass(1000);
    const draining = await world.view(id);
    expect(draining.cancelRequestedAt).not.toBeNull();
    expect(draining.state).toBe('running');
    expect(world.ledger.of('a').map(({ abortedAt }) => abortedAt)).toEqual([null]);
    await world.untilState(id, 'cancelled', 10_000);
    expect(await world.outputs(id)).toEqual({ a: { did: 'a', attempt: 0 } });
    expect(world.ledger.of('b')).toEqual([]);
  });

  it('CAN-2: of two running steps only the one that may be cancelled is stopped', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([
        parallel('both', [step('a', 'charge', { cancellable: false })], [step('b', 'listening')]),
        step('c', 'quick'),
      ]),
    );
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.untilState(id, 'cancelled', 10_000);
    expect(await world.outputs(id)).toEqual({ a: { did: 'a', attempt: 0 } });
    expect(world.ledger.of('b').map(({ abortedAt }) => abortedAt !== null)).toEqual([true]);
  });

  it('CAN-1: a cancel that nobody is told of reaches a run that waits, by the sweep alone', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'packing')]));
    await world.time.pass(1000);
    const task = await world.poll('packing');
    await world.signal(id, 'cancel', null, { nudge: false });
    await world.untilState(id, 'cancelled', 10_000);
    expect(task === null ? null : await world.report(task, { ok: true, output: {} })).toBe('stale');
  });

  it('CAN-5: a second cancel changes nothing', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge', { cancellable: false })]));
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.time.pass(1000);
    const requestedAt = (await world.view(id)).cancelRequestedAt;
    await world.signal(id, 'cancel');
    const ended = await world.untilState(id, 'cancelled', 10_000);
    expect(ended.cancelRequestedAt).toBe(requestedAt);
    expect(Object.keys(await world.outputs(id))).toEqual(['a']);
  });

  it('frees the slot of a stopped handler only when it has really ended', async () => {
    const world = new TestEngine({ scripts, settings: { maxConcurrentSteps: 1 } });
    world.boot();
    const sequence = await world.publish([step('a', 'charge')]);
    const first = await world.start(sequence);
    await world.time.pass(1000);
    await world.signal(first, 'cancel');
    await world.untilState(first, 'cancelled', 250);
    const second = await world.start(sequence);
    await world.time.pass(5000);
    expect(world.ledger.of('a', second)).toEqual([]);
    expect((await world.untilEnded(second)).state).toBe('completed');
  });
});

describe('cancelling at once through the state (CAN-7)', () => {
  it('takes a live lease over, stops the handler, and a late result changes nothing', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'charge', { cancellable: false }), step('b', 'quick')]),
    );
    await world.time.pass(1000);
    const answer = await world.answered(
      world.operate(id, { kind: 'set_state', state: 'cancelled', nextFireAt: null }),
    );
    expect(answer).toEqual({ status: 'done', state: 'cancelled' });
    const ended = await world.view(id);
    expect(ended.state).toBe('cancelled');
    expect(world.ledger.of('a').map(({ abortedAt }) => abortedAt !== null)).toEqual([true]);
    await world.time.pass(20_000);
    expect(await world.view(id)).toEqual(ended);
    expect(await world.outputs(id)).toEqual({});
  });

  it('from another process: the turn finds out and writes nothing', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge'), step('b', 'quick')]));
    await world.time.pass(1000);
    const other = world.boot();
    const command = { kind: 'set_state', state: 'cancelled', nextFireAt: null } as const;
    await world.answered(world.operate(id, command, other));
    const ended = await world.view(id);
    expect(ended.state).toBe('cancelled');
    await world.time.pass(20_000);
    expect(await world.view(id)).toEqual(ended);
    expect(world.ledger.of('b')).toEqual([]);
  });

  it.each([
    ['the first of its turn', [step('a', 'charge'), step('b', 'quick')], ['a']],
    ['a later one', [step('q', 'quick'), step('a', 'charge')], ['a']],
    ['one in each branch', [parallel('p', [step('a', 'charge')], [step('c', 'charge')])], ['a', 'c']],
    ['none, but a worker has a task', [step('w', 'packing')], []],
    ['none, but a person is asked', [step('g', 'human_review', { params: { prompt: 'ok?' } })], []],
  ])('the journal tells what was cut off: %s (RULINGS A40)', async (_name, blocks, late) => {
    const world = new TestEngine({ scripts });
    world.boot();
    const id = await world.start(await world.publish(blocks));
    await world.time.pass(1000);
    const other = world.boot();
    await world.answered(
      world.operate(id, { kind: 'set_state', state: 'cancelled', nextFireAt: null }, other),
    );
    await world.time.pass(20_000);
    const journal = (await world.store.listJournal(TENANT, id, 100)) ?? [];
    const told = journal.filter(({ kind }) => kind === 'late_result').map(({ details }) => details);
    const expected = late.map((id) => ({ block_id: id, attempt: 0, outcome: 'unknown_outcome' }));
    expect(told).toHaveLength(late.length);
    expect(told).toEqual(expect.arrayContaining(expected));
  });

  it.each(['retry', 'scheduled'] as const)(
    'takes nothing over for a command that may not be carried out: %s',
    async (kind) => {
      const world = new TestEngine({ scripts });
      world.boot();
      const id = await world.start(await world.publish([step('a', 'charge')]));
      await world.time.pass(1000);
      const before = await world.view(id);
      const command =
        kind === 'retry'
          ? ({ kind } as const)
          : ({ kind: 'set_state', state: 'waiting', nextFireAt: null } as const);
      const answer = await world.answered(world.operate(id, command));
      expect(answer.status).not.toBe('done');
      expect((await world.view(id)).epoch).toBe(before.epoch);
      await world.untilState(id, 'completed');
      expect(world.ledger.of('a')).toHaveLength(1);
    },
  );
});
