import { describe, expect, it } from 'vitest';
import { createWakeGuard, runWake, type WakeGuard } from '../../src/engine/deployment-wakes.ts';
import type { Waker } from '../../src/ports/waker.ts';
import { step } from '../engine/support/blocks.ts';
import { faultAt, outage } from '../engine/support/fault-plans.ts';
import { FunctionWorld, LIMIT_MS } from '../engine/support/function-world.ts';
import { hintFates } from '../engine/support/hint-faults.ts';
import type { TestEngineOptions } from '../engine/support/test-engine.ts';

const HOUR_MS = 3_600_000;
const GUARD_MS = LIMIT_MS + 60_000;
const quick = { quick: {} };

/** Functions that lose every message, woken by schedules of one call each, as EventBridge has them; nothing repeats a wake. */
class ScheduledWorld extends FunctionWorld {
  wakes = 0;
  private readonly waker: Waker;
  private readonly guard: WakeGuard;

  constructor(options: TestEngineOptions) {
    super(options, hintFates.dropped);
    const set = (delayMs: number): Promise<void> => {
      this.time.at(this.time.now + delayMs, () => this.wake());
      return Promise.resolve();
    };
    this.waker = { guard: set, wakeWithin: set };
    this.guard = createWakeGuard({
      waker: this.waker,
      clock: { nowMs: () => this.time.now },
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      invocationMs: LIMIT_MS,
      leaseMs: null,
      memory: { keptUntilMs: 0 },
    });
  }

  override async start(...args: Parameters<FunctionWorld['start']>): Promise<string> {
    await this.guard.keep();
    return super.start(...args);
  }

  protected override tick(): void {
    // There is no cron.
  }

  private wake(): void {
    this.wakes += 1;
    super.invoke(async (engine, remainingTimeMs) => {
      await runWake(engine, this.waker, remainingTimeMs, this.guard);
    });
  }
}

describe('economy mode with schedules of one call (RULINGS A33)', () => {
  it('an idle hour after the last work has no wake and no statement', async () => {
    const world = new ScheduledWorld({ scripts: quick });
    world.boot();
    await world.untilEnded(await world.start(await world.publish([step('a', 'quick')])));
    await world.time.pass(3 * GUARD_MS);
    const before = { wakes: world.wakes, calls: world.calls.calls.length };
    await world.time.pass(HOUR_MS);
    expect({ wakes: world.wakes, calls: world.calls.calls.length }).toEqual(before);
  });

  it('a wake that dies in its work is followed by another one', async () => {
    const faults = faultAt('commit', 1, { kind: 'crash-before' });
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const id = await world.start(
      await world.publish([step('a', 'quick'), step('b', 'quick'), step('c', 'quick')]),
    );
    expect((await world.untilEnded(id, 4 * GUARD_MS)).state).toBe('completed');
  });

  it('wakes that cannot claim what is due do not forget what falls due later', async () => {
    const faults = outage(['claimDue'], { kind: 'fail-before' });
    faults.on = false;
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const sequence = await world.publish([step('a', 'quick')]);
    const id = await world.start(sequence, { nextFireAt: world.time.now + HOUR_MS });
    const now = await world.start(sequence);
    faults.on = true;
    await world.time.pass(2 * GUARD_MS);
    faults.on = false;
    expect(world.countCalls('claimDue')).toBeGreaterThan(0);
    expect((await world.untilEnded(now, GUARD_MS)).state).toBe('completed');
    expect((await world.untilEnded(id, HOUR_MS)).state).toBe('completed');
  });

  it('a wake that finds no database keeps another one', async () => {
    const faults = outage(['lookForWork', 'claimDue'], { kind: 'fail-before' });
    const world = new ScheduledWorld({ scripts: quick, faults });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'quick')]));
    await world.time.pass(HOUR_MS);
    faults.on = false;
    expect((await world.untilEnded(id, 2 * GUARD_MS)).state).toBe('completed');
  });
});

function ignore(): void {
  // Nothing is said of a guard that was kept.
}
