import type { TenantPlans } from '../core/plans.ts';
import type { BreakerRule } from '../core/run/limits/takes.ts';
import type { Clock, Entropy, Log } from '../ports/system.ts';
import type { Hints } from '../ports/hints.ts';
import type { Seal } from '../ports/seal.ts';
import type { Store } from '../ports/store/store.ts';
import type { NodePresence } from './cluster/cluster-node.ts';
import type { Counters } from './counters.ts';
import type { Definitions } from './definitions.ts';
import type { IdSource } from './ids.ts';
import type { InstanceTarget, TurnRunner } from './runner.ts';
import type { WebhookSender } from './webhooks/webhook-sender.ts';

/** What every use case may use. */
export interface UseCaseDeps {
  readonly store: Store;
  readonly runner: TurnRunner;
  readonly definitions: Definitions;
  readonly hints: Hints;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Seals credentials; absent: none can be stored. */
  readonly seal?: Seal;
  readonly limits: UseCaseLimits;
  /** Names of the handlers that run in process (RULINGS B8), sorted. */
  readonly handlerNames: readonly string[];
  /** This process in the cluster; absent: it is not shown there. */
  readonly node?: NodePresence;
  /** Sends webhooks; absent where the process has no way to the outside. */
  readonly outbox?: WebhookSender;
  /** What the turns of this process have counted; absent where it runs none. */
  readonly counters?: Counters;
}

export interface UseCaseLimits {
  /** Canonical JSON of a context; 0 switches the check off ([CTX-1]). */
  readonly maxContextBytes: number;
  /** When circuit breakers open; absent: 5 failures, 60 s ([CB-2]). */
  readonly breakers?: BreakerRule;
  /** What tenants may start (http-api.md 26); absent: no tenant has a plan. */
  readonly plans?: TenantPlans;
}

/** Who asks. `tenantId` null: an administrator who sees all tenants. */
export interface Caller {
  readonly tenantId: string | null;
  readonly isAdmin: boolean;
}

/**
 * Lets an accepted fact take effect now. The fact is stored already, so a failure here changes nothing but latency:
 * the sweep finds the instance (DESIGN 5).
 */
export async function nudgeAccepted(deps: UseCaseDeps, target: InstanceTarget): Promise<void> {
  try {
    await deps.runner.nudge(target);
  } catch (error) {
    deps.log.warn('instance could not be looked at after a fact was accepted', {
      instance_id: target.instanceId,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}
