import { systemClock, systemEntropy } from '../src/adapters/system.ts';
import { sha256Hex } from '../src/core/digest.ts';
import { NODE_BEAT_MS, type NodeSettings } from '../src/engine/cluster/cluster-node.ts';
import type { FunctionEngineSettings } from '../src/engine/function-engine.ts';
import { builtInHandlers } from '../src/engine/handlers/built-in.ts';
import { createHandlerRegistry, type HandlerRegistry } from '../src/engine/handlers/registry.ts';
import type { WebhookSettings } from '../src/engine/webhooks/send-webhook.ts';
import type { HttpEffects } from '../src/ports/effects.ts';
import type { DefinedHandler } from '../src/sdk/handler.ts';
import { toStepHandler } from '../src/sdk/step-handler.ts';
import type { HostSettings } from './settings.ts';

/** Take-overs in a row after which a run counts as poison ([REC-3]). */
const MAX_RECOVERIES = 3;
/** RULINGS B6. */
const IN_PLACE_WAIT_MS = 1_000;
const TURNS_AT_ONCE = 64;

/** What differs from host to host. */
export interface HostFacts {
  /** Shown as the holder of leases. */
  readonly leaseOwner: string;
  readonly buildId: string;
  readonly maxOutputBytes: number;
}

/** The engine's settings from those of the host. */
export function engineSettings(
  settings: HostSettings,
  { leaseOwner, buildId, maxOutputBytes }: HostFacts,
): FunctionEngineSettings & { readonly node: NodeSettings } {
  return {
    leaseOwner,
    leaseMs: settings.STEPWELL_LEASE_MS ?? null,
    maxTurns: TURNS_AT_ONCE,
    maxConcurrentSteps: settings.STEPWELL_MAX_CONCURRENT_STEPS,
    maxInstancesPerTenant: settings.STEPWELL_MAX_INSTANCES_PER_TENANT,
    maxStepsPerTurn: settings.STEPWELL_MAX_STEPS_PER_INVOCATION,
    maxStepsPerInstance: settings.STEPWELL_MAX_STEPS_PER_INSTANCE,
    breakers: {
      threshold: settings.STEPWELL_BREAKER_FAILURE_THRESHOLD,
      cooldownMs: settings.STEPWELL_BREAKER_COOLDOWN_SECS * 1000,
    },
    maxRecoveries: MAX_RECOVERIES,
    maxContextBytes: settings.STEPWELL_MAX_CONTEXT_BYTES,
    maxOutputBytes,
    silentTaskMs: settings.STEPWELL_WORKER_REAPER_STALE_SECS * 1000,
    inPlaceWaitMs: IN_PLACE_WAIT_MS,
    webhooks: webhooksOf(settings),
    node: nodeOf(settings, buildId),
  };
}

/** One logical node stands for all processes of a deployment; the next build is another one. */
function nodeOf(settings: HostSettings, buildId: string): NodeSettings {
  const hex = sha256Hex(`functions of build ${buildId}`);
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    name: settings.STEPWELL_NODE_NAME ?? 'functions',
    beatMs: NODE_BEAT_MS,
    silentMs: settings.STEPWELL_NODE_REAPER_STALE_SECS * 1000,
    reapEveryMs: settings.STEPWELL_NODE_REAPER_TICK_SECS * 1000,
  };
}

function webhooksOf(settings: HostSettings): WebhookSettings {
  return {
    urls: settings.STEPWELL_WEBHOOK_URLS,
    secret: settings.STEPWELL_WEBHOOK_SECRET ?? null,
    timeoutMs: settings.STEPWELL_WEBHOOK_TIMEOUT_SECS * 1000,
    maxRetries: settings.STEPWELL_WEBHOOK_MAX_RETRIES,
    cancelled: settings.STEPWELL_WEBHOOK_CANCELLED,
  };
}

/** The built-in handlers and those of the user. Throws when a name cannot be taken. */
export function registryOf(
  settings: HostSettings,
  effects: HttpEffects,
  users: readonly DefinedHandler[],
): HandlerRegistry {
  const allowInternal = settings.STEPWELL_ALLOW_INTERNAL_URLS;
  const registry = createHandlerRegistry(
    builtInHandlers({ effects, entropy: systemEntropy, allowInternal }),
    users.map((handler) => toStepHandler(handler, systemClock)),
  );
  if (!registry.ok) throw new Error(registry.error.join('; '));
  return registry.value;
}
