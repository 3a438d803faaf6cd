import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { step } from './support/blocks.ts';
import { TestEngine } from './support/test-engine.ts';

const scripts = {
  quick: {},
  flaky: {
    outcome: (_: unknown, nth: number): StepOutcome =>
      nth === 0 ? { ok: false, failure: { message: 'no', retryable: true } } : { ok: true, output: nth },
  },
  broken: { outcome: (): StepOutcome => ({ ok: false, failure: { message: 'no', retryable: false } }) },
};

describe('what a process counts [API 2]', () => {
  it('is each attempt, failed or not, each retry, each signal and each end', async () => {
    const world = new TestEngine({ scripts });
    const { counters } = world.boot().engine.deps;
    const retry = { max_attempts: 2, initial_backoff: 10, max_backoff: 10 };
    const blocks = [
      step('a', 'quick', { wait_for_input: { prompt: '?' } }),
      { ...step('b', 'flaky'), retry },
      step('c', 'broken'),
    ];
    const id = await world.start(await world.publish(blocks));
    await world.untilState(id, 'waiting');
    await world.signal(id, 'custom:human_input:a', { value: 'yes' });
    await world.untilState(id, 'failed');
    const of = (name: string): number => counters.valueOf(`orch8_${name}_total`);
    expect([of('steps_executed'), of('steps_failed'), of('steps_retried')]).toEqual([4, 2, 1]);
    expect([of('signals_delivered'), of('instances_failed'), of('instances_completed')]).toEqual([1, 1, 0]);
  });
});
