import { describe, expect, it } from 'vitest';
import { step } from './support/blocks.ts';
import { outage } from './support/fault-plans.ts';
import { TestEngine } from './support/test-engine.ts';

describe('an output that cannot be read', () => {
  it('holds the step up and never reads as null [EXT-3]', async () => {
    const faults = outage(['readOutputs'], { kind: 'fail-before' });
    const world = new TestEngine({ faults });
    // A turn of its own for each step, so that the second one has to read what the first one gave.
    world.boot({ settings: { maxStepsPerTurn: 1 } });
    const id = await world.start(
      await world.publish([
        step('given', 'transform', { params: { text: 'whole' } }),
        step('later', 'transform', { params: { copy: '{{outputs.given.text}}' } }),
      ]),
    );
    await world.time.pass(30_000);
    expect(world.countCalls('readOutputs')).toBeGreaterThan(1);
    expect((await world.outputs(id))['later']).toBeUndefined();
    faults.on = false;
    await world.untilEnded(id, 600_000);
    expect((await world.outputs(id))['later']).toEqual({ copy: 'whole' });
  });
});
