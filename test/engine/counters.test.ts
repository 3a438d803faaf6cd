import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { parallel, step } from './support/blocks.ts';
import { LEASE_MS, SWEEP_MS } from './support/engine-process.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

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

  it('is each claim and how long its turn took, each step and how long, and each look for work', async () => {
    const world = new TestEngine({ scripts: { slow: { takesMs: 3_000 } } });
    const { counters } = world.boot().engine.deps;
    const id = await world.start(
      await world.publish([parallel('p', [step('a', 'slow')], [step('b', 'slow')])]),
    );
    await world.time.pass(1_000);
    expect(counters.activeSteps).toBe(2);
    await world.untilState(id, 'completed');
    expect(counters.activeSteps).toBe(0);
    expect(counters.timesOf('orch8_step_duration_seconds')).toMatchObject({ count: 2, sumMs: 6_000 });
    const turns = counters.timesOf('orch8_instance_processing_seconds');
    expect(turns?.count).toBe(counters.valueOf('orch8_instances_claimed_total'));
    expect(turns?.count).toBeGreaterThanOrEqual(1);
    expect(turns?.sumMs).toBeGreaterThanOrEqual(3_000);
    expect(counters.timesOf('orch8_tick_duration_seconds')?.count).toBeGreaterThanOrEqual(1);
    expect(counters.valueOf('orch8_recovery_stale_instances_total')).toBe(0);
  });

  it('is each run that was taken over from a process that died', async () => {
    const world = new TestEngine({ scripts: { slow: { takesMs: 3_000 } } });
    const dying = world.boot();
    const id = await world.start(await world.publish([step('a', 'slow')]));
    await world.time.pass(1_000);
    dying.crash();
    const { counters } = world.boot().engine.deps;
    await world.untilEnded(id, LEASE_MS + SWEEP_MS + 30_000);
    expect(counters.valueOf('orch8_recovery_stale_instances_total')).toBe(1);
    expect(counters.valueOf('orch8_instances_claimed_total')).toBeGreaterThanOrEqual(1);
  });

  it('is each step that a rate limit put off', async () => {
    const world = new TestEngine({ scripts });
    await world.store.putRateLimit({ tenantId: TENANT, resourceKey: 'mail', maxCount: 1, windowMs: 60_000 });
    const { counters } = world.boot().engine.deps;
    const sequence = await world.publish([step('a', 'quick', { rate_limit_key: 'mail' })]);
    const ids = [await world.start(sequence), await world.start(sequence)];
    await world.time.calm();
    expect(counters.valueOf('orch8_rate_limits_exceeded_total')).toBe(1);
    for (const id of ids) await world.untilState(id, 'completed');
    expect(counters.valueOf('orch8_rate_limits_exceeded_total')).toBe(1);
  });

  it('is each look into the result cache, by what it found', async () => {
    const world = new TestEngine({ scripts });
    const { counters } = world.boot().engine.deps;
    const cached = (id: string) => step(id, 'quick', { cache_key: 'k' });
    const id = await world.start(
      await world.publish([cached('a'), step('n', 'quick'), cached('b'), cached('c')]),
    );
    await world.untilState(id, 'completed');
    expect(counters.valueOf('orch8_cache_misses_total')).toBe(1);
    expect(counters.valueOf('orch8_cache_hits_total')).toBe(2);
  });

  it('is each look for the result of a worker’s step', async () => {
    const world = new TestEngine({ scripts });
    const { counters } = world.boot().engine.deps;
    const id = await world.start(await world.publish([step('a', 'nobody_here', { cache_key: 'k' })]));
    await world.untilState(id, 'waiting');
    expect(counters.valueOf('orch8_cache_misses_total')).toBe(1);
  });
});
