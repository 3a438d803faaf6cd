import { runSweep } from '../../src/engine/invocation.ts';
import type { SweepResult } from '../../src/engine/sweep.ts';
import { check, isCheck } from './check.ts';
import type { AwsHost, AwsParts } from './compose.ts';
import { guardOf, type OwnAddress, wakerOf } from './economy.ts';
import type { Remaining } from './records.ts';

/**
 * The clock's tick: everything that time drives, and what the queue lost. The event says nothing, unless it is the
 * check of a deployment. In economy mode it also
 * keeps the next wake. What it logs is watched: an alarm goes off when `oldest_due_ms` is large, which was seen before anything
 * was claimed.
 */
export function createSweepHandler(
  host: AwsHost,
): (event: unknown, context: Remaining & OwnAddress) => Promise<void> {
  return async (event, context) => {
    const parts = await host();
    if (isCheck(event)) return check(parts, context);
    const { oldestDueMs, ...swept } = await sweepOrWake(parts, context);
    parts.watched.info('swept', {
      ...swept,
      ...(oldestDueMs === null ? {} : { oldest_due_ms: oldestDueMs }),
    });
  };
}

async function sweepOrWake(parts: AwsParts, context: Remaining & OwnAddress): Promise<SweepResult> {
  const { engine } = parts;
  const remainingTimeMs = (): number => context.getRemainingTimeInMillis();
  const waker = await wakerOf(parts, context);
  if (waker === null) return runSweep(engine, remainingTimeMs);
  const { runWake } = await import('../../src/engine/deployment-wakes.ts');
  return runWake(engine, waker, remainingTimeMs, await guardOf(parts, waker));
}

export { createAwsHost } from './compose.ts';
