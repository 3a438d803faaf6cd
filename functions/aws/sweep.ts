import { runSweep, type SweepOutcome } from '../../src/engine/invocation.ts';
import { HINTED_AHEAD_MS } from '../../src/ports/waker.ts';
import { check, isCheck } from './check.ts';
import type { AwsHost, AwsParts } from './compose.ts';
import { failedOf, type OwnAddress, wakerOf } from './economy.ts';
import type { Remaining } from './records.ts';

/** The host repeats within minutes, in which no more fail. */
const REMEMBERED_MAX = 20;

/** What the host tells an invocation. The id is the same when it repeats one that failed. */
export type SweepContext = Remaining & OwnAddress & { readonly awsRequestId?: string };

/**
 * The clock's tick: everything that time drives, and what the queue lost. The event says nothing, unless it is the
 * check of a deployment, or a wake after one that failed. In economy mode it also keeps the next wake. What it logs is watched: an
 * alarm goes off when `oldest_due_ms` is large, which was seen before anything was claimed. Rejects with what could not be done,
 * after it has logged the rest.
 */
export function createSweepHandler(host: AwsHost): (event: unknown, context: SweepContext) => Promise<void> {
  return async (event, context) => {
    const parts = await host();
    if (isCheck(event)) return check(parts, context);
    const { requestIds } = parts.wakes.failed;
    // It has failed and has kept another wake: to repeat it would only keep the database awake.
    if (context.awsRequestId !== undefined && requestIds.includes(context.awsRequestId)) return;
    const { result, problem } = await sweepOrWake(parts, event, context);
    const { oldestDueMs, ...swept } = result;
    parts.watched.info('swept', {
      ...swept,
      ...(oldestDueMs === null ? {} : { oldest_due_ms: oldestDueMs }),
    });
    if (problem !== null) throw problem;
  };
}

async function sweepOrWake(parts: AwsParts, event: unknown, context: SweepContext): Promise<SweepOutcome> {
  const { engine, wakes } = parts;
  const remainingTimeMs = (): number => context.getRemainingTimeInMillis();
  const waker = await wakerOf(parts, context);
  if (waker === null) return runSweep(engine, remainingTimeMs);
  const { runWake } = await import('../../src/engine/deployment-wakes.ts');
  const failed = failedOf(parts, waker, event);
  const settings = { ...engine.settings, hintedAheadMs: HINTED_AHEAD_MS };
  const woken = await runWake({ ...engine, settings }, remainingTimeMs, { waker, failed, isRepeated: false });
  const { awsRequestId } = context;
  if (woken.problem !== null && woken.comesAgain && awsRequestId !== undefined) {
    wakes.failed.requestIds = [...wakes.failed.requestIds, awsRequestId].slice(-REMEMBERED_MAX);
  }
  return woken;
}

export { createAwsHost } from './compose.ts';
