import { describe, expect, it } from 'vitest';
import { createSchedule } from '../../../src/engine/schedules.ts';
import { step } from '../../engine/support/blocks.ts';
import { broken, outage } from '../../engine/support/fault-plans.ts';
import { LIMIT_MS } from '../../engine/support/function-world.ts';
import { hintFates } from '../../engine/support/hint-faults.ts';
import { TENANT } from '../../engine/support/test-engine.ts';
import { EconomyWorld } from '../support/economy-world.ts';

const HOUR_MS = 3_600_000;
const QUARTER_MS = 15 * 60_000;
/** A guard comes when the lease of its invocation has ended (RULINGS A33). */
const GUARD_MS = LIMIT_MS + 60_000;

describe('alarms of the waker', () => {
  it('that break off each time come at last four times an hour, and the log says so', async () => {
    const breaks = outage(['claimDue'], { kind: 'crash-before' });
    const world = new EconomyWorld({ scripts: { quick: {} }, faults: breaks }, hintFates.dropped);
    world.boot();
    await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(3 * HOUR_MS);
    const { length } = world.alarms;
    await world.time.pass(20 * HOUR_MS);
    const said = world.log().filter((line) => line.includes('a wake broke off'));
    expect(said).toHaveLength(Math.floor(world.alarms.length / 2));
    // The platform repeats each once: the second handling has set an alarm.
    expect(world.alarms.length - length).toBeGreaterThanOrEqual(2 * 20 * 4 - 2);
    expect(world.alarms.length - length).toBeLessThanOrEqual(2 * 20 * 5);
  });

  it('that fail for another reason than the database come at growing pauses, for ever, and each says why', async () => {
    const faults = broken(['claimDue']);
    const world = new EconomyWorld({ scripts: { quick: {} }, faults }, hintFates.dropped);
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(23 * HOUR_MS);
    const gaps = world.alarms.slice(1).map((at, index) => at - (world.alarms[index] ?? 0));
    for (const [index, gap] of gaps.entries()) {
      const fullMs = Math.min(QUARTER_MS, 30_000 * 2 ** index);
      expect(gap).toBeGreaterThan(fullMs * 0.79);
      expect(gap).toBeLessThanOrEqual(fullMs);
    }
    expect(new Set(gaps.slice(-20)).size).toBeGreaterThan(10);
    const said = world.log().filter((line) => line.includes('a wake could not do everything'));
    expect(said).toHaveLength(world.alarms.length);
    for (const line of said) expect(line).toContain('claimDue is broken');
    faults.on = false;
    expect((await world.untilEnded(id, QUARTER_MS)).state).toBe('completed');
    await world.time.pass(1_000);
    expect(world.alarmAt).toBeNull();
    faults.on = true;
    await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(GUARD_MS);
    expect((world.alarmAt ?? 0) - world.time.now).toBeLessThanOrEqual(30_000);
  });

  it('that cannot fire a schedule come at growing pauses too', async () => {
    const faults = broken(['fireSchedule']);
    const world = new EconomyWorld({ scripts: { quick: {} }, faults }, hintFates.dropped);
    const { useCases } = world.boot();
    const schedule = {
      tenantId: TENANT,
      namespace: 'fulfilment',
      sequenceId: await world.publish([step('a', 'quick')]),
      cronExpr: '* * * * *',
      timezone: 'UTC',
      enabled: true,
      metadata: {},
      overlapPolicy: 'allow',
    } as const;
    await world.keep();
    await createSchedule(useCases, { tenantId: null, isAdmin: true }, schedule);
    await world.time.pass(3 * HOUR_MS);
    const { length } = world.alarms;
    await world.time.pass(2 * HOUR_MS);
    expect(world.alarms.length - length).toBeLessThanOrEqual(10);
    faults.on = false;
    await world.time.pass(QUARTER_MS);
    expect(world.ledger.entries.length).toBeGreaterThan(0);
  });
});
