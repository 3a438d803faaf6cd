import { describe, expect, it } from 'vitest';
import { TestEngine } from './support/test-engine.ts';

describe('a run in one process', () => {
  it('runs its steps in order, each once, and completes', async () => {
    const world = new TestEngine({ scripts: { charge: {}, ship: { takesMs: 2000 } } });
    world.boot();
    const sequence = await world.publish([
      { type: 'step', id: 'a', handler: 'charge' },
      { type: 'step', id: 'b', handler: 'ship' },
      { type: 'step', id: 'c', handler: 'noop' },
    ]);
    const id = await world.start(sequence);
    const view = await world.untilEnded(id);
    expect(view.state).toBe('completed');
    expect(world.ledger.entries.map(({ blockId }) => blockId)).toEqual(['a', 'b']);
    expect(await world.outputs(id)).toEqual({
      a: { did: 'a', attempt: 0 },
      b: { did: 'b', attempt: 0 },
      c: {},
    });
  });
});
