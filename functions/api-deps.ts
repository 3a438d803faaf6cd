import { SCHEMA_VERSION } from '../src/adapters/postgres/schema-version.generated.ts';
import type { AnswerLimit } from '../src/api/answer-limit.ts';
import type { ApiDeps, ApiSettings } from '../src/api/api-deps.ts';
import type { FunctionEngine } from '../src/engine/function-engine.ts';
import type { TurnRunner } from '../src/engine/runner.ts';
import { createActivity, unhurried } from '../src/engine/streams/activity.ts';
import type { HostSettings } from './settings.ts';

/** What a host passes on, whatever the settings say. */
export interface Carried {
  readonly maxBodyBytes: number;
  readonly answerLimit: AnswerLimit;
}

export interface ApiParts {
  readonly engine: FunctionEngine;
  readonly runner: TurnRunner;
  readonly settings: HostSettings;
  readonly version: string;
  readonly peerOf: ApiDeps['peerOf'];
  readonly forwardedOf?: ApiDeps['forwardedOf'];
  /** Event streams at once; default: none, since most functions answer as a whole and who follows something polls. */
  readonly maxStreams?: number;
  readonly carried: Carried;
  /** Least time between two looks of a stream; default: what the route and the caller say. */
  readonly streamLookMs?: number;
}

/** Those that work come first, and there is one for each build that is deployed. */
const NODES_LOOKED_AT = 100;

/** What the API of a function host works with. Throws as `apiSettings`. */
export function apiDeps(parts: ApiParts): ApiDeps {
  const { engine, runner, settings, version, peerOf, forwardedOf, maxStreams = 0, streamLookMs = 0 } = parts;
  const { store, handlers, definitions, hints, ids, clock, entropy, log, limits, seal, outbox, node } =
    engine.deps;
  return {
    store,
    runner,
    definitions,
    hints,
    ids,
    clock,
    entropy,
    log,
    limits: {
      ...limits,
      ...(settings.STEPWELL_PLANS === undefined ? {} : { plans: settings.STEPWELL_PLANS }),
    },
    ...(node === undefined ? {} : { node }),
    ...(seal === undefined ? {} : { seal }),
    ...(outbox === undefined ? {} : { outbox }),
    handlerNames: handlers.names,
    settings: { ...bounded(apiSettings(settings), parts.carried), maxStreams },
    service: {
      version,
      schemaVersion: SCHEMA_VERSION,
      isDrained: async () => {
        // A request for readiness gives no sign of life, so it would not learn of it otherwise.
        const nodes = node === undefined ? [] : await store.listNodes(NODES_LOOKED_AT);
        return nodes.some(({ id, status }) => id === node?.id && status === 'draining');
      },
      notReadyReason: () => (node?.isDraining === true ? 'draining' : null),
    },
    peerOf,
    ...(forwardedOf === undefined ? {} : { forwardedOf }),
    activity: unhurried(createActivity(clock), streamLookMs),
  };
}

type OwnSettings = Omit<ApiSettings, 'maxStreams'>;

function bounded(given: OwnSettings, { maxBodyBytes, answerLimit }: Carried): OwnSettings {
  return {
    ...given,
    answerLimit,
    maxBodyBytes: Math.min(given.maxBodyBytes, maxBodyBytes),
    maxWebhookBodyBytes: Math.min(given.maxWebhookBodyBytes, maxBodyBytes),
  };
}

/**
 * The API's settings from those of a function host. Throws when nobody would have to show a key and that was not asked for.
 */
function apiSettings(settings: HostSettings): OwnSettings {
  const apiKey = settings.STEPWELL_API_KEY ?? null;
  const requireTenantHeader = settings.STEPWELL_REQUIRE_TENANT_HEADER;
  if (apiKey === null && !settings.STEPWELL_INSECURE) {
    throw new Error('set STEPWELL_API_KEY, or STEPWELL_INSECURE=1 to let everybody in');
  }
  return {
    apiKey,
    requireTenantHeader,
    defaultTenantId: null,
    corsOrigins: settings.STEPWELL_CORS_ORIGINS,
    // The host bounds how many requests there are at once.
    maxConcurrentRequests: 0,
    maxBodyBytes: settings.STEPWELL_MAX_BODY_BYTES,
    maxWebhookBodyBytes: settings.STEPWELL_MAX_WEBHOOK_BODY_BYTES,
    localCallersOnly: false,
    webhookRatePerSec: settings.STEPWELL_WEBHOOK_RATE_PER_SEC,
    trustedProxies: settings.STEPWELL_TRUSTED_PROXIES,
    // Clients resume (RULINGS B17).
    streamMaxMs: 60_000,
    envLabel: settings.STEPWELL_ENV_LABEL ?? null,
    envColor: settings.STEPWELL_ENV_COLOR ?? null,
  };
}
