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
