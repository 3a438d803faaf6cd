import { describe, expect, it } from 'vitest';
import { createDefinitions } from '../../src/engine/definitions.ts';
import { readTree } from '../../src/engine/read-tree.ts';
import { parallel, step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const statesOf = async (world: TestEngine, id: string): Promise<Record<string, string>> => {
  const { store } = world;
  const tree = await readTree({ store, definitions: createDefinitions(store) }, TENANT, id);
  return Object.fromEntries((tree ?? []).map((node) => [node.blockId, node.state]));
};

const errorsOf = async (world: TestEngine, id: string): Promise<Record<string, unknown>> => {
  const { store } = world;
  const tree = await readTree({ store, definitions: createDefinitions(store) }, TENANT, id);
  return Object.fromEntries((tree ?? []).map((node) => [node.blockId, node.error]));
};

describe('the tree view while a turn works', () => {
  it('RULINGS A22: a first step that is called on the strength of the claim is shown as running', async () => {
    const world = new TestEngine({ scripts: { slow: { takesMs: 60_000 } } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'slow'), step('b', 'slow')]));
    await world.time.pass(1000);
    expect(await statesOf(world, id)).toEqual({ a: 'running', b: 'pending' });
    await world.time.pass(60_000);
    expect(await statesOf(world, id)).toEqual({ a: 'completed', b: 'running' });
  });

  it('what a lease does not work on stays as it is', async () => {
    const world = new TestEngine({ scripts: { slow: { takesMs: 60_000 } } });
    world.boot();
    const blocks = [
      parallel('p', [step('a', 'slow'), step('b', 'slow')], [step('c', 'packing')]),
      step('d', 'slow'),
    ];
    const id = await world.start(await world.publish(blocks));
    await world.time.pass(1000);
    expect(await statesOf(world, id)).toEqual({
      p: 'running',
      a: 'running',
      b: 'pending',
      c: 'waiting',
      d: 'pending',
    });
  });
});

describe('the error of a node (sequences.md 5.2)', () => {
  it('names its block, while it waits for a retry and when it has failed [sequences.md 5.2]', async () => {
    const retry = { max_attempts: 2, initial_backoff: 60_000, max_backoff: 60_000 };
    const failure = { message: 'busy', retryable: true, code: 'BUSY', details: { queue: 7 } };
    const world = new TestEngine({ scripts: { charge: { outcome: () => ({ ok: false, failure }) } } });
    world.boot();
    const id = await world.start(
      await world.publish([
        {
          type: 'for_each',
          id: 'each',
          collection: '{{unheard_of.rows}}',
          item_var: 'row',
          body: [step('s', 'charge')],
        },
      ]),
    );
    const other = await world.start(await world.publish([parallel('p', [step('a', 'charge', { retry })])]));
    await world.time.pass(1000);
    const expected = { ...failure, block_id: 'a' };
    expect(await errorsOf(world, other)).toEqual({ p: null, a: expected });
    await world.untilEnded(other);
    expect(await errorsOf(world, other)).toEqual({ p: null, a: expected });
    expect(await errorsOf(world, id)).toMatchObject({
      each: { block_id: 'each', retryable: false },
      s: null,
    });
  });
});
