import { describe, expect, it } from 'vitest';
import { createSchedule } from '../../src/engine/schedules.ts';
import type { OverlapPolicy, ScheduleFire } from '../../src/ports/store/schedules.ts';
import { sleepStep, step } from './support/blocks.ts';
import { LEASE_MS, SWEEP_MS } from './support/engine-process.ts';
import { faultAt } from './support/fault-plans.ts';
import type { FaultKind } from './support/fault-store.ts';
import { FunctionWorld } from './support/function-world.ts';
import { SINGLE_FAULTS } from './support/single-fault.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const MINUTE = 60_000;
const scripts = { quick: {} };

interface ScheduleOptions {
  readonly cron?: string;
  readonly overlapPolicy?: OverlapPolicy;
  readonly blocks?: Parameters<TestEngine['publish']>[0];
}

/** Creates a schedule as the API does; by default it fires each minute. */
async function schedule(world: TestEngine, options: ScheduleOptions = {}): Promise<string> {
  const sequenceId = await world.publish(options.blocks ?? [step('a', 'quick')]);
  const process = world.live ?? world.idle();
  const created = await world.answered(
    createSchedule(
      process.useCases,
      { tenantId: null, isAdmin: true },
      {
        ...{
          tenantId: TENANT,
          namespace: 'fulfilment',
          sequenceId,
          timezone: 'UTC',
          enabled: true,
          metadata: {},
        },
        cronExpr: options.cron ?? '* * * * *',
        overlapPolicy: options.overlapPolicy ?? 'allow',
      },
    ),
  );
  if (!created.ok) throw new Error(created.error.message);
  return created.value.id;
}

/** Nominal times of the instances of a schedule as minutes after the start of the world, ascending. */
async function occurrences(world: TestEngine, id: string): Promise<readonly number[]> {
  const runs = await world.store.listInstances({
    ...{ tenantId: TENANT, namespace: null, sequenceId: null, states: [], limit: 1000, offset: 0 },
    metadata: [['cron_schedule_id', id]],
  });
  return runs
    .map(({ idempotencyKey }) => Date.parse((idempotencyKey ?? '').slice(`cron:${id}:`.length)))
    .map((at) => (at - START_AT) / MINUTE)
    .sort((a, b) => a - b);
}

describe('schedules', () => {
  it('start one instance for each occurrence, however many processes sweep at once [CRON-3] [SWEEP-1] (B53)', async () => {
    const world = new TestEngine({ scripts });
    const id = await schedule(world);
    await world.time.pass(MINUTE);
    for (let process = 0; process < 10; process += 1) world.boot();
    await world.time.pass(3 * MINUTE + SWEEP_MS);
    expect(await occurrences(world, id)).toEqual([1, 2, 3, 4]);
    expect(world.ledger.of('a')).toHaveLength(4);
  });

  it('touch the database at no other time than theirs when nothing else is to be done', async () => {
    const world = new TestEngine({ scripts });
    world.boot({ settings: { sweepMs: 3_600_000 } });
    const id = await schedule(world, { cron: '30 8 * * *' });
    await world.time.pass(1_000);
    const before = world.calls.calls.length;
    await world.time.pass(14 * MINUTE);
    const calls = world.calls.calls.slice(before).map(({ operation }) => operation);
    expect(calls.filter((operation) => operation !== 'announceHandlers')).toEqual([]);
    await world.time.pass(16 * MINUTE);
    expect(await occurrences(world, id)).toEqual([30]);
    expect(world.ledger.of('a').map(({ at }) => at)).toEqual([START_AT + 30 * MINUTE]);
  });

  it('that were missed while nobody was there collapse into the latest occurrence [CRON-4] (D17)', async () => {
    const world = new TestEngine({ scripts });
    const id = await schedule(world);
    await world.time.pass(5.5 * MINUTE);
    world.boot();
    await world.time.pass(MINUTE);
    expect(await occurrences(world, id)).toEqual([5, 6]);
    const record = await world.store.getSchedule(null, id);
    expect(record).toMatchObject({ nextFireAt: START_AT + 7 * MINUTE, skippedFires: 0 });
  });

  it('of which one cannot be fired leave the others alone and are tried again', async () => {
    const world = new TestEngine({ scripts });
    world.boot();
    const [bad, good] = [await schedule(world), await schedule(world)];
    const inner = world.store.fireSchedule.bind(world.store);
    let broken = true;
    Object.assign(world.store, {
      fireSchedule: (fire: ScheduleFire) =>
        broken && fire.scheduleId === bad ? Promise.reject(new Error('a defect')) : inner(fire),
    });
    await world.time.pass(MINUTE + 500);
    expect([await occurrences(world, bad), await occurrences(world, good)]).toEqual([[], [1]]);
    const tries = world.countCalls('fireSchedule');
    expect(tries).toBeLessThan(6);
    broken = false;
    await world.time.pass(2_000);
    expect(await occurrences(world, bad)).toEqual([1]);
  });

  it('with the policy buffer_one start the held one within 5 s after the end [CRON-5] (D13)', async () => {
    const world = new TestEngine({ scripts });
    const { counters } = world.boot({ settings: { sweepMs: 3_600_000 } }).engine.deps;
    const id = await schedule(world, {
      overlapPolicy: 'buffer_one',
      blocks: [sleepStep('nap', 3.2 * MINUTE)],
    });
    await world.time.pass(4 * MINUTE + 12_000);
    expect(await occurrences(world, id)).toEqual([1]);
    await world.time.pass(5_500);
    // Three were missed while it ran: one was held back, the others were dropped.
    expect(await occurrences(world, id)).toEqual([1, 2]);
    expect(await world.store.getSchedule(null, id)).toMatchObject({ skippedFires: 2 });
    const count = (what: string): number => counters.valueOf(`orch8_cron_${what}_total`);
    expect([count('triggered'), count('skipped')]).toEqual([2, 2]);
  });

  it('fire in sweeps of functions as well, and their instances run by message [CRON-3]', async () => {
    const world = new FunctionWorld({ scripts });
    world.boot();
    const id = await schedule(world);
    await world.time.pass(3 * MINUTE + 2_000);
    expect((await occurrences(world, id)).length).toBeGreaterThanOrEqual(2);
    expect(world.ledger.of('a').length).toBe((await occurrences(world, id)).length);
  });
});

describe('schedules under a fault', () => {
  const operations = ['dueSchedules', 'fireSchedule', 'nextWake', 'getSequence', 'claimDue'] as const;
  const cases = operations.flatMap((operation) =>
    SINGLE_FAULTS.map((kind): [string, (typeof operations)[number], FaultKind] => [
      `${kind} of ${operation}`,
      operation,
      kind,
    ]),
  );

  it.each(cases)(
    '%s start each occurrence once and lose none [CRON-3] (I28)',
    async (_name, operation, kind) => {
      for (const nth of [0, 1, 2]) {
        const world = new TestEngine({ scripts });
        const id = await schedule(world);
        const replace = (): void => {
          world.time.at(world.time.now, () => void world.boot());
        };
        const fault = faultAt(operation, nth, { kind, forMs: 2.5 * LEASE_MS });
        world.faults = {
          decide: (call) => {
            const decided = fault.decide(call);
            if (decided !== null && kind.startsWith('freeze')) replace();
            return decided;
          },
          onCrash: replace,
        };
        world.boot();
        await world.time.pass(5 * MINUTE + SWEEP_MS + 2_000);
        expect(await occurrences(world, id)).toEqual([1, 2, 3, 4, 5]);
        const ids = new Set(world.ledger.of('a').map(({ instanceId }) => instanceId));
        expect(ids.size).toBe(5);
      }
    },
  );
});
