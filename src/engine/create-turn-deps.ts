import { type BreakerRule, DEFAULT_BREAKER_RULE } from '../core/run/limits/takes.ts';
import type { HttpEffects } from '../ports/effects.ts';
import type { Hints } from '../ports/hints.ts';
import type { Seal } from '../ports/seal.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock, Entropy, Log } from '../ports/system.ts';
import type { NodeSettings } from './cluster/cluster-node.ts';
import { createCommitter } from './committer.ts';
import { createDefinitions } from './definitions.ts';
import { createEngineMemory, type EngineMemory } from './engine-memory.ts';
import { createHandlerDirectory } from './handler-directory.ts';
import { buildIdOf } from './handlers/build-id.ts';
import type { HandlerRegistry } from './handlers/registry.ts';
import { type TurnDeps, createStepSlots } from './turn-deps.ts';
import type { WebhookSettings } from './webhooks/send-webhook.ts';
import { createWebhookSender, type WebhookSender } from './webhooks/webhook-sender.ts';

/** What the host brings. */
export interface TurnParts {
  readonly store: Store;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly hints: Hints;
  /** Opens credentials; absent: none can be used. */
  readonly seal?: Seal;
  /** The way of webhooks to the outside; absent: this process sends none. */
  readonly webhookClient?: HttpEffects;
  /** Names the build in the table of handler names (RULINGS B8). Default: made from the names of its handlers. */
  readonly buildId?: string;
}

/** The bounds of turns (see TurnLimits), the same on every kind of host. */
export interface TurnSettings {
  readonly maxConcurrentSteps: number;
  readonly maxStepsPerTurn: number;
  readonly maxStepsPerInstance?: number;
  readonly breakers?: BreakerRule;
  readonly maxRecoveries: number;
  readonly maxContextBytes: number;
  readonly maxOutputBytes: number;
  readonly inPlaceWaitMs: number;
  /** How the process shows itself in the cluster; absent: not at all. */
  readonly node?: NodeSettings;
  /** Targets of webhooks, and how they are sent; absent: no commit queues any. */
  readonly webhooks?: WebhookSettings;
}

/**
 * Puts together what the turns of one process share. Their time is unbounded; a function host bounds it per invocation.
 *
 * @param memory What earlier invocations of this process have left; default: nothing.
 */
export function createTurnDeps(
  parts: TurnParts,
  settings: TurnSettings,
  memory: EngineMemory = createEngineMemory(parts, settings.node),
): TurnDeps {
  const { store, clock, log, handlers } = parts;
  const buildId = parts.buildId ?? buildIdOf(handlers.names, '');
  const { counters, ids, company, node } = memory;
  const outbox = outboxOf(parts, settings, { counters, ids });
  const tells = settings.webhooks !== undefined && settings.webhooks.urls.length > 0;
  return {
    ...parts,
    committer: createCommitter(store, clock, log),
    counters,
    directory: createHandlerDirectory({ store, handlers, buildId, clock, log, memory: memory.names }),
    definitions: createDefinitions(store, memory.plans),
    ids,
    company,
    steps: createStepSlots(settings.maxConcurrentSteps),
    ...(outbox === null ? {} : { outbox }),
    ...(node === undefined ? {} : { node }),
    limits: {
      maxContextBytes: settings.maxContextBytes,
      maxOutputBytes: settings.maxOutputBytes,
      maxStepsPerTurn: settings.maxStepsPerTurn,
      maxStepsPerInstance: settings.maxStepsPerInstance ?? 0,
      breakers: settings.breakers ?? DEFAULT_BREAKER_RULE,
      ...(tells ? { webhooks: settings.webhooks } : {}),
      maxRecoveries: settings.maxRecoveries,
      inPlaceWaitMs: settings.inPlaceWaitMs,
      remainingTimeMs: null,
      freshTimeMs: Number.POSITIVE_INFINITY,
    },
  };
}

const NO_TARGETS: WebhookSettings = {
  urls: [],
  secret: null,
  timeoutMs: 10_000,
  maxRetries: 3,
  cancelled: false,
};

/** Also without targets: what was queued while there were some is still sent. */
function outboxOf(
  { webhookClient: effects, store, clock, log }: TurnParts,
  { webhooks: settings = NO_TARGETS }: TurnSettings,
  own: Pick<TurnDeps, 'counters' | 'ids'>,
): WebhookSender | null {
  return effects === undefined ? null : createWebhookSender({ store, effects, clock, log, settings, ...own });
}
