import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { isTerminal } from '../../src/core/run/states.ts';
import type { InstanceView } from '../../src/ports/store/reads.ts';
import { parallel, step } from './support/blocks.ts';
import { SWEEP_MS } from './support/engine-process.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const RARE_SWEEP = { sweepMs: 3_600_000 };
const scripts = {
  quick: {},
  charge: { takesMs: 5000 },
  refused: { outcome: () => ({ ok: false as const, failure: { message: 'refused', retryable: false } }) },
};

const sub = (id: string, name: string, members: JsonObject = {}): JsonObject => ({
  type: 'sub_sequence',
  id,
  sequence_name: name,
  ...members,
});

const childrenOf = async (world: TestEngine, id: string): Promise<readonly InstanceView[]> =>
  (await world.store.listChildren(TENANT, id)) ?? [];

describe('sub-sequences (9.7)', () => {
  it('SUB-8: the end of the child wakes the parent at once, by hints alone', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.publish([step('inner', 'charge')], { name: 'child' });
    const id = await world.start(await world.publish([sub('s', 'child'), step('b', 'quick')]));
    expect((await world.untilEnded(id, 5001)).state).toBe('completed');
    expect(await childrenOf(world, id)).toHaveLength(1);
  });

  it('SUB-8: and without any hint it is found by the sweep', async () => {
    const world = new TestEngine({ scripts, hints: () => ({ send: () => undefined }) });
    world.boot();
    await world.publish([step('inner', 'charge')], { name: 'child' });
    const id = await world.start(await world.publish([sub('s', 'child'), step('b', 'quick')]));
    expect((await world.untilEnded(id, 5000 + 3 * SWEEP_MS)).state).toBe('completed');
  });

  it('SUB-6: one child per entry, a new one in each pass', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.publish([step('inner', 'quick')], { name: 'child' });
    const id = await world.start(
      await world.publish([
        { type: 'loop', id: 'l', condition: 'true', max_iterations: 3, body: [sub('s', 'child')] },
      ]),
    );
    expect((await world.untilEnded(id, 5000)).state).toBe('completed');
    const children = await childrenOf(world, id);
    expect(new Set(children.map(({ parent }) => parent?.iteration))).toEqual(new Set(['l:0', 'l:1', 'l:2']));
    expect(children).toHaveLength(3);
  });

  it('SUB-7: a failed child fails the block, which can be caught', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.publish([step('inner', 'refused')], { name: 'child' });
    const id = await world.start(
      await world.publish([
        { type: 'try_catch', id: 't', try_block: [sub('s', 'child')], catch_block: [step('c', 'quick')] },
      ]),
    );
    expect((await world.untilEnded(id, 5000)).state).toBe('completed');
    expect(world.ledger.of('c')).toHaveLength(1);
  });

  it('SUB-9, I27: a cancel of the parent reaches children and grandchildren', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.publish([step('inner', 'packing')], { name: 'grandchild' });
    await world.publish([sub('deeper', 'grandchild')], { name: 'child' });
    const id = await world.start(await world.publish([sub('s', 'child'), step('b', 'quick')]));
    await world.time.pass(1000);
    await world.signal(id, 'cancel');
    await world.untilState(id, 'cancelled', 1000);
    const [child] = await childrenOf(world, id);
    await world.untilState(child?.id ?? '', 'cancelled', 1000);
    const [grandchild] = await childrenOf(world, child?.id ?? '');
    await world.untilState(grandchild?.id ?? '', 'cancelled', 1000);
  });

  it('SUB-9, CAN-7: a cancel of the parent at once stops the handler of its child', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: RARE_SWEEP });
    await world.publish([step('inner', 'charge')], { name: 'child' });
    const id = await world.start(await world.publish([sub('s', 'child')]));
    await world.time.pass(1000);
    await world.answered(world.operate(id, { kind: 'set_state', state: 'cancelled', nextFireAt: null }));
    const [child] = await childrenOf(world, id);
    await world.untilState(child?.id ?? '', 'cancelled', 1000);
    expect(world.ledger.of('inner').map(({ abortedAt }) => abortedAt !== null)).toEqual([true]);
  });

  it('SUB-9: the failure of another branch takes a waiting child along, within a sweep', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    await world.publish([step('inner', 'packing')], { name: 'child' });
    const id = await world.start(
      await world.publish([
        {
          ...parallel('both', [sub('s', 'child')], [step('c', 'charge'), step('d', 'refused')]),
          fail_fast: true,
        },
      ]),
    );
    expect((await world.untilEnded(id, 6000)).state).toBe('failed');
    const [child] = await childrenOf(world, id);
    await world.untilState(child?.id ?? '', 'cancelled', SWEEP_MS);
  });

  it('SUB-5: a sequence that calls itself ends at the depth limit, all of it', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const sequence = await world.publish([sub('s', 'self')], { name: 'self' });
    const id = await world.start(sequence);
    expect((await world.untilEnded(id, 60_000)).state).toBe('failed');
    const all = await world.store.listInstances({
      ...{
        tenantId: TENANT,
        namespace: null,
        sequenceId: null,
        states: [],
        metadata: [],
        limit: 50,
        offset: 0,
      },
    });
    expect(all).toHaveLength(17);
    expect(all.every(({ state }) => isTerminal(state))).toBe(true);
  });

  it('fifty children of one parent all end, and so does the parent', async () => {
    const world = new TestEngine({ scripts, settings: { maxTurns: 16 } });
    world.boot();
    await world.publish([step('inner', 'quick')], { name: 'child' });
    const branches = Array.from({ length: 50 }, (_, branch) => [sub(`s${branch}`, 'child')]);
    const id = await world.start(await world.publish([parallel('all', ...branches), step('b', 'quick')]));
    expect((await world.untilEnded(id, 60_000)).state).toBe('completed');
    expect(world.ledger.of('inner')).toHaveLength(50);
  });
});
