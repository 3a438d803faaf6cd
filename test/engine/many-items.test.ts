import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { TestEngine } from './support/test-engine.ts';

const COUNT = 10_000;
const STEPS_PER_TURN = 300;

describe('ten thousand items', () => {
  it('run in bounded batches over many turns of several processes, one of which dies (RULINGS B25)', {
    timeout: 600_000,
  }, async () => {
    const xs = Array.from({ length: COUNT }, (_, n) => n);
    const scripts = {
      effect: { takesMs: 20 },
      list: { outcome: () => ({ ok: true as const, output: { xs } }) },
    };
    const world = new TestEngine({ scripts, settings: { maxStepsPerTurn: STEPS_PER_TURN } });
    const sequence = await world.publish([
      step('make', 'list'),
      {
        type: 'for_each',
        id: 'each',
        collection: 'outputs.make.xs',
        max_iterations: COUNT,
        concurrency: 1000,
        body: [step('a', 'effect', { params: { n: '{{item}}' } })],
      },
    ]);
    const first = world.boot();
    world.boot();
    let calls = 0;
    let open = 0;
    let mostOpen = 0;
    world.ledger.onCall = ({ blockId }) => {
      if (blockId !== 'a') return;
      calls += 1;
      if (calls === COUNT / 2) first.gate.crash();
    };
    const id = await world.start(sequence, { on: first });
    const ended = await world.time.until(async () => {
      const frontier = await world.store.getFrontier(null, id);
      open = frontier?.frames.length ?? 0;
      mostOpen = Math.max(mostOpen, open);
      return frontier?.instance.state === 'completed';
    }, 3_600_000);
    expect(ended).toBe(true);
    const rows = (await world.store.listOutputs(null, id, { node: false, retry: false })) ?? [];
    const results = rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'a');
    expect(new Set(results.map(({ iteration }) => iteration)).size).toBe(COUNT);
    expect(results).toHaveLength(COUNT);
    // Only what the process that died had in flight was called again.
    expect(calls - COUNT).toBeLessThanOrEqual(32);
    // In-process leaves are opened as there is room to call them, not as many as the block would allow.
    expect(mostOpen).toBeLessThanOrEqual(70);
    expect((await world.view(id)).epoch).toBeGreaterThanOrEqual(Math.floor(COUNT / STEPS_PER_TURN));
  });
});
