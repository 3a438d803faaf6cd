import type { WorkLook } from '../ports/store/sweeps.ts';
import type { FunctionEngine } from './function-engine.ts';
import { hintUpcoming, LOOK_AHEAD_MS, mayHaveUpcoming } from './hint-upcoming.ts';
import type { Invocation } from './open-invocation.ts';
import { kindsOfWork, lookForWork } from './look-for-work.ts';
import { claimDue, sweep, type Swept } from './sweep.ts';

/**
 * The sweep of a function host: what time drives, and turns for what is due, as long as less than half of the time is
 * gone; then hints at what falls due before the next sweep, and webhooks. Never rejects.
 */
export async function sweepWithin(
  { settings: own }: FunctionEngine,
  invocation: Invocation,
  seen?: WorkLook | null,
): Promise<Swept> {
  const { deps, runner, remainingTimeMs } = invocation;
  const claimUntilMs = remainingTimeMs() / 2;
  const { maxTurns: batchSize, maxInstancesPerTenant: perTenantLimit, silentTaskMs } = own;
  const settings = { batchSize, perTenantLimit, silentTaskMs };
  const askedAtMs = deps.clock.monotonicMs();
  const look = seen === undefined ? await lookForWork(deps) : seen;
  const swept = await sweep(deps, runner, settings, look);
  const { attempt } = swept.attempts;
  let { result } = swept;
  // A whole fleet may have ended: each that was at work there is looked at by a function of its own batch.
  deps.hints.send(swept.left.map((target) => ({ ...target, delayMs: 0 })));
  while (result.more && remainingTimeMs() > claimUntilMs) {
    await invocation.idle();
    const next = await attempt('claim what is due', () => claimDue(deps, runner, settings));
    result = {
      ...result,
      claimed: result.claimed + (next?.claimed ?? 0),
      more: next?.more === true || next?.waits === true,
    };
  }
  await invocation.idle();
  const { hintedAheadMs = LOOK_AHEAD_MS } = own;
  if (mayHaveUpcoming(look, deps.clock.monotonicMs() - askedAtMs, hintedAheadMs))
    await attempt('hint at what falls due soon', () => hintUpcoming(deps, hintedAheadMs));
  const { outbox } = deps;
  const mayHold = kindsOfWork(look, silentTaskMs).webhooks || invocation.hasQueuedWebhooks();
  if (outbox !== undefined && mayHold)
    await attempt('send webhooks', () =>
      outbox.deliverDue((waitMs) => remainingTimeMs() - waitMs > claimUntilMs),
    );
  return { ...swept, result };
}
