import type { ApiSettings } from '../api/api-deps.ts';
import { NODE_BEAT_MS } from '../engine/cluster/cluster-node.ts';
import type { EngineSettings } from '../engine/engine.ts';
import type { Settings } from '../settings/schema.ts';

/** Instances at work at once: many of them only wait for a commit or a handler. */
const TURNS_PER_BATCH = 2;
/** Take-overs in a row after which a run counts as poison ([REC-3]). */
const MAX_RECOVERIES = 3;
/** [DISP-2], RULINGS B20. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
/** RULINGS B6: sleeps up to this long are waited for in place. */
const IN_PLACE_WAIT_MS = 100;

/** Addresses that only this machine reaches. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** `isOurs`: no other process works on this database, so there is nobody to look after (RULINGS B22). */
export function engineSettings(settings: Settings, leaseOwner: string, isOurs: boolean): EngineSettings {
  const sweepSecs = Math.min(
    settings.sweepIntervalSecs,
    settings.cronTickSecs,
    settings.workerReaperTickSecs,
  );
  return {
    leaseOwner,
    leaseMs: settings.leaseMs,
    tickMs: isOurs ? null : settings.tickIntervalMs,
    sweepMs: sweepSecs * 1000,
    batchSize: settings.batchSize,
    maxTurns: Math.max(settings.batchSize * TURNS_PER_BATCH, settings.maxConcurrentSteps),
    maxConcurrentSteps: settings.maxConcurrentSteps,
    maxInstancesPerTenant: settings.maxInstancesPerTenant,
    maxStepsPerTurn: settings.maxStepsPerInvocation,
    maxStepsPerInstance: settings.maxStepsPerInstance,
    breakers: {
      threshold: settings.breakerFailureThreshold,
      cooldownMs: settings.breakerCooldownSecs * 1000,
    },
    maxRecoveries: MAX_RECOVERIES,
    maxContextBytes: settings.maxContextBytes,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    silentTaskMs: settings.workerReaperStaleSecs * 1000,
    inPlaceWaitMs: IN_PLACE_WAIT_MS,
    node: {
      name: settings.nodeName ?? leaseOwner,
      beatMs: NODE_BEAT_MS,
      silentMs: settings.nodeReaperStaleSecs * 1000,
      reapEveryMs: settings.nodeReaperTickSecs * 1000,
    },
    webhooks: {
      urls: settings.webhookUrls,
      secret: settings.webhookSecret ?? null,
      timeoutMs: settings.webhookTimeoutSecs * 1000,
      maxRetries: settings.webhookMaxRetries,
      cancelled: settings.webhookCancelled,
    },
  };
}

export function apiSettings(settings: Settings, defaultTenantId: string | null): ApiSettings {
  return {
    apiKey: settings.apiKey ?? null,
    requireTenantHeader: settings.requireTenantHeader,
    defaultTenantId,
    corsOrigins: settings.corsOrigins,
    maxConcurrentRequests: settings.maxConcurrentRequests,
    maxBodyBytes: settings.maxBodyBytes,
    maxWebhookBodyBytes: settings.maxWebhookBodyBytes,
    webhookRatePerSec: settings.webhookRatePerSec,
    trustedProxies: settings.trustedProxies,
    maxStreams: settings.maxStreams,
    streamMaxMs: null,
    localCallersOnly: settings.apiKey === undefined && LOOPBACK.has(settings.httpAddr.host),
    envLabel: settings.envLabel ?? null,
    envColor: settings.envColor ?? null,
  };
}
