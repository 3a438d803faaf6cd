import { describe, expect, it } from 'vitest';
import { createCounters } from '../../src/engine/counters.ts';
import { newInstance } from '../support/turn-builder.ts';
import { wholeReads } from '../support/whole-reads.ts';
import { createFixture } from './support/api-fixture.ts';

describe('the metrics of a process [API 2]', () => {
  it('hold what it has counted, and how long things took in buckets that add up', async () => {
    const counters = createCounters();
    counters.add('orch8_instances_claimed_total');
    counters.stepBegan();
    counters.stepBegan();
    for (const ms of [1, 250, 251]) counters.took('orch8_tick_duration_seconds', ms);
    counters.stepEnded(400_000);
    const { text } = await createFixture({}, { counters }).call('GET', '/metrics');
    const lines = text.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'orch8_instances_claimed_total 1',
        'orch8_active_tasks 1',
        'orch8_tick_duration_seconds_bucket{le="0.001"} 1',
        'orch8_tick_duration_seconds_bucket{le="0.1"} 1',
        'orch8_tick_duration_seconds_bucket{le="0.25"} 2',
        'orch8_tick_duration_seconds_bucket{le="0.5"} 3',
        'orch8_tick_duration_seconds_bucket{le="300"} 3',
        'orch8_tick_duration_seconds_bucket{le="+Inf"} 3',
        'orch8_tick_duration_seconds_sum 0.502',
        'orch8_tick_duration_seconds_count 3',
        'orch8_step_duration_seconds_bucket{le="300"} 0',
        'orch8_step_duration_seconds_bucket{le="+Inf"} 1',
        'orch8_step_duration_seconds_sum 400',
      ]),
    );
  });

  it('say how many instances are due and held by nobody', async () => {
    const api = createFixture();
    const depth = async () => /^orch8_queue_depth (.*)$/m.exec((await api.call('GET', '/metrics')).text)?.[1];
    expect(await depth()).toBe('0');
    await api.store.start({ instances: [newInstance(), newInstance()], onKnownKey: 'first' });
    expect(await depth()).toBe('2');
  });

  it('are there without the database, but for the depth of the queue', async () => {
    const counters = createCounters();
    counters.add('orch8_instances_claimed_total');
    const { store } = createFixture();
    const lost = wholeReads({ ...store, countDue: () => Promise.reject(new Error('gone')) });
    const reply = await createFixture({}, { counters, store: lost }).call('GET', '/metrics');
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('\norch8_queue_depth NaN\n');
    expect(reply.text).toContain('\norch8_instances_claimed_total 1\n');
  });
});
