import { type APIGatewayProxyResult, handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import * as z from 'zod';
import { SCHEMA_VERSION } from '../../src/adapters/postgres/schema-version.generated.ts';
import { createApi } from '../../src/api/create-api.ts';
import { createRequestRunner } from '../../src/engine/request-runner.ts';
import { createActivity } from '../../src/engine/streams/activity.ts';
import type { FunctionSettings } from '../settings.ts';
import type { AwsParts } from './compose.ts';

/** Answers one HTTP event. Resolves when nothing of the request runs any more. */
export type AnswerEvent = (event: LambdaEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

/** The API over the parts of this host. Throws when nobody would have to show a key and that was not asked for. */
export function composeApi({ engine, settings, version }: AwsParts): AnswerEvent {
  const runner = createRequestRunner(engine);
  const { store, handlers, definitions, hints, ids, clock, entropy, log, limits, seal, outbox, node } =
    engine.deps;
  const app = createApi({
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
    settings: apiSettings(settings),
    service: {
      version,
      schemaVersion: SCHEMA_VERSION,
      notReadyReason: () => (node?.isDraining === true ? 'draining' : null),
    },
    peerOf,
    activity: createActivity(clock),
  });
  const answer = handle(app);
  return async (event, context) => {
    const shown = node?.beatWhenDue().catch((error: unknown) => {
      log.warn('the sign of life could not be given', { error: String(error) });
    });
    try {
      return await answer(event, context);
    } finally {
      await shown;
      await runner.settled();
    }
  };
}

function apiSettings(settings: FunctionSettings): Parameters<typeof createApi>[0]['settings'] {
  const apiKey = settings.STEPWELL_API_KEY ?? null;
  const requireTenantHeader = settings.STEPWELL_REQUIRE_TENANT_HEADER ?? true;
  if (apiKey === null && settings.STEPWELL_INSECURE !== true) {
    throw new Error('set STEPWELL_API_KEY, or STEPWELL_INSECURE=1 to let everybody in');
  }
  if (apiKey !== null && !requireTenantHeader && settings.STEPWELL_ALLOW_NO_TENANT_ISOLATION !== true) {
    throw new Error('STEPWELL_REQUIRE_TENANT_HEADER=0 also needs STEPWELL_ALLOW_NO_TENANT_ISOLATION=1');
  }
  return {
    apiKey,
    requireTenantHeader,
    defaultTenantId: null,
    corsOrigins: settings.STEPWELL_CORS_ORIGINS,
    // The host serves one request at a time and bounds how many there are.
    maxConcurrentRequests: 0,
    maxBodyBytes: settings.STEPWELL_MAX_BODY_BYTES,
    maxWebhookBodyBytes: settings.STEPWELL_MAX_WEBHOOK_BODY_BYTES,
    localCallersOnly: false,
    webhookRatePerSec: settings.STEPWELL_WEBHOOK_RATE_PER_SEC,
    // This function answers as a whole; who follows something polls.
    maxStreams: 0,
    streamMaxMs: 60_000,
    envLabel: settings.STEPWELL_ENV_LABEL ?? null,
    envColor: settings.STEPWELL_ENV_COLOR ?? null,
  };
}

/** Function URLs and HTTP APIs (payload 2.0) name the peer here. */
const HostEnv = z.object({ requestContext: z.object({ http: z.object({ sourceIp: z.string() }) }) });

function peerOf(hostEnv: unknown): string {
  const env = HostEnv.safeParse(hostEnv);
  return env.success ? env.data.requestContext.http.sourceIp : '';
}
