import { HINT_DELAY_MAX_MS } from '../ports/queue.ts';
import type { Claim } from '../ports/store/turn.ts';
import { type FunctionEngine, leaseMsOf } from './function-engine.ts';
import { createLocalRunner, type LocalRunner } from './local-runner.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { TurnEnd } from './turn-end.ts';
import { withNotes } from './webhooks/queued-webhooks.ts';

/** What one invocation works with: the engine's parts under the time that is left. */
export interface Invocation {
  readonly deps: TurnDeps;
  readonly runner: LocalRunner;
  /** Resolves when no turn of the runner is left. */
  idle(): Promise<void>;
  /** Commits of this invocation have queued webhooks. */
  readonly hasQueuedWebhooks: () => boolean;
  readonly remainingTimeMs: () => number;
}

export function openInvocation(engine: FunctionEngine, remainingTimeMs: () => number): Invocation {
  const { settings } = engine;
  const freshTimeMs = remainingTimeMs();
  const limits = { ...engine.deps.limits, remainingTimeMs, freshTimeMs };
  const { deps, queued } = withNotes({ ...engine.deps, limits });
  const leaseMs = leaseMsOf(settings, freshTimeMs);
  const runner = createLocalRunner(deps, { ...settings, leaseMs });
  runner.onNotDue((left) => {
    // Its message has a function in which it may be among fewer. Who knows just the id leaves it to the sweep.
    if (left === null || left.tenantId === null) return;
    deps.hints.send([{ tenantId: left.tenantId, instanceId: left.instanceId, delayMs: 0 }]);
  });
  let waiting: (() => void)[] = [];
  runner.onTurnEnd((claim, end) => {
    sendFollowUp(deps, claim, end);
    if (runner.activeTurns > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  });
  const idle = (): Promise<void> =>
    runner.activeTurns === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
  return { deps, runner, idle, hasQueuedWebhooks: queued, remainingTimeMs };
}

/** The queue brings the instance back when it falls due, also at once when the time or the steps of this turn were used up. */
function sendFollowUp(deps: TurnDeps, { tenantId, instanceId }: Claim, end: TurnEnd): void {
  if (end.kind !== 'settled' || end.dueAt === null) return;
  const delayMs = Math.max(0, end.dueAt - end.now);
  if (delayMs <= HINT_DELAY_MAX_MS) deps.hints.send([{ tenantId, instanceId, delayMs }]);
}
