import { systemClock } from '../../src/adapters/system.ts';
import type { WakeGuard } from '../../src/engine/deployment-wakes.ts';
import type { FailedWakes } from '../../src/engine/failed-wakes.ts';
import type { ScheduleWaker, WakeEvent } from '../../src/adapters/scheduler/schedule-waker.ts';
import type { Waker } from '../../src/ports/waker.ts';
import type { AwsParts } from './compose.ts';

/** What is known of the call: the function's own address, which is that of the sweep where none is set. */
export interface OwnAddress {
  readonly invokedFunctionArn: string;
}

/** The waker of economy mode; null in steady mode. */
export async function wakerOf(parts: AwsParts, address: OwnAddress): Promise<ScheduleWaker | null> {
  const { STEPWELL_WAKE_GROUP: group, STEPWELL_WAKE_ROLE_ARN: roleArn } = parts.settings;
  if (group === undefined || roleArn === undefined) return null;
  parts.wakes.waker ??= openWaker(parts, { group, roleArn }, address);
  return parts.wakes.waker;
}

async function openWaker(
  { settings }: AwsParts,
  where: { readonly group: string; readonly roleArn: string },
  { invokedFunctionArn }: OwnAddress,
): Promise<ScheduleWaker> {
  const { createScheduleWaker } = await import('../../src/adapters/scheduler/schedule-waker.ts');
  const targetArn = settings.STEPWELL_WAKE_TARGET_ARN ?? invokedFunctionArn;
  return createScheduleWaker({ ...where, targetArn, clock: systemClock });
}

/**
 * Before anything is written: whatever becomes of this invocation, somebody looks after what it has left. Answers as
 * `WakeGuard.keep`; in steady mode always true, as the sweep looks each minute.
 */
export async function keepWake(parts: AwsParts, address: OwnAddress): Promise<boolean> {
  const waker = await wakerOf(parts, address);
  return waker === null || (await (await guardOf(parts, waker)).keep());
}

async function guardOf(parts: AwsParts, waker: Waker): Promise<WakeGuard> {
  const { createWakeGuard } = await import('../../src/engine/deployment-wakes.ts');
  const { log, engine, settings, wakes } = parts;
  const invocationMs = settings.STEPWELL_INVOCATION_SECS * 1000;
  const { leaseMs } = engine.settings;
  return createWakeGuard({
    waker,
    clock: engine.deps.clock,
    log,
    invocationMs,
    leaseMs,
    memory: wakes.memory,
  });
}

/**
 * What is known of failed wakes: by this process, and by the one that has kept this wake before it claimed anything, and says so in the
 * event; what was done since makes that void.
 */
export function failedOf(
  { wakes: { failed }, engine }: AwsParts,
  waker: ScheduleWaker,
  event: unknown,
): FailedWakes {
  const { clock } = engine.deps;
  return {
    count() {
      const isVoid = saidIn(event, 'kept_at_ms') <= failed.doneAtMs;
      return Promise.resolve(isVoid ? failed.count : Math.max(failed.count, saidIn(event, 'failed_wakes')));
    },
    async comeAgain(pause, failedCount) {
      failed.count = failedCount;
      await waker.wakeAgain(pause, failedCount);
    },
    forget() {
      failed.count = 0;
      failed.doneAtMs = clock.nowMs();
      return Promise.resolve();
    },
  };
}

/** What `wakeAgain` has written; others call the function with anything. 0: nothing. */
function saidIn(event: unknown, name: keyof WakeEvent): number {
  const entries = typeof event === 'object' && event !== null ? Object.entries(event) : [];
  const said: unknown = entries.find(([key]) => key === name)?.[1];
  return typeof said === 'number' && said > 0 ? Math.floor(said) : 0;
}
