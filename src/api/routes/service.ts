import * as z from 'zod';
import { ok } from '../../core/result.ts';
import { JsonObjectValue, NoParameters } from '../schemas/wire-values.ts';
import { metricsText, QUEUE_COUNTED_MAX } from '../metrics.ts';
import type { ApiContext, ApiDeps } from '../api-deps.ts';
import type { Answer } from '../reply.ts';
import { defineRoute, okay } from '../route.ts';

const HealthBody = z.object({ status: z.literal('ok') });
const ReadyBody = z.object({ status: z.literal('ready') });
const NotReadyBody = z.object({
  status: z.literal('not_ready'),
  reason: z.enum(['database_unreachable', 'migrations_pending', 'engine_stopped', 'draining']),
});
const InfoBody = z.object({
  version: z.string(),
  storage_schema_version: z.int(),
  contract_schema_version: z.literal(1),
  env_label: z.string().nullable(),
  env_color: z.string().nullable(),
  /** Largest body of a request in bytes. */
  max_body_bytes: z.int(),
});

const parts = { tag: 'service', mount: 'root', params: NoParameters, query: NoParameters } as const;

export const serviceRoutes = [
  defineRoute({
    ...parts,
    method: 'GET',
    path: '/health/live',
    access: 'public',
    summary: 'The process answers',
    responses: { 200: HealthBody },
    handle: () => okay({ status: 'ok' }),
  }),
  defineRoute({
    ...parts,
    method: 'GET',
    path: '/health/ready',
    access: 'public',
    summary: 'The process should get traffic',
    responses: { 200: ReadyBody, 503: NotReadyBody },
    handle: readiness,
  }),
  defineRoute({
    ...parts,
    method: 'GET',
    path: '/info',
    access: 'public',
    summary: 'Version and environment',
    responses: { 200: InfoBody },
    handle: ({ service, settings }) =>
      okay({
        version: service.version,
        storage_schema_version: service.schemaVersion,
        contract_schema_version: 1,
        env_label: settings.envLabel,
        env_color: settings.envColor,
        max_body_bytes: settings.maxBodyBytes,
      }),
  }),
  defineRoute({
    ...parts,
    method: 'GET',
    path: '/metrics',
    access: 'key',
    summary: 'Metrics in the text form of Prometheus',
    responses: { 200: null },
    media: 'text/plain',
    handle: async (deps) => {
      const content = metricsText(deps.counters, await queueDepth(deps));
      return ok({ status: 200, text: { type: 'text/plain; version=0.0.4', content } });
    },
  }),
  defineRoute({
    ...parts,
    method: 'GET',
    path: '/api-docs/openapi.json',
    access: 'key',
    summary: 'This API as an OpenAPI 3.1 document',
    responses: { 200: JsonObjectValue },
    handle: async ({ openApi }) => okay(await openApi()),
  }),
];

/** NaN, as the text form writes what is not known, without the database: what was counted must not be lost with it. */
async function queueDepth({ store, log }: ApiDeps): Promise<number> {
  try {
    return await store.countDue(QUEUE_COUNTED_MAX);
  } catch (error) {
    log.warn('the queue could not be counted', { error: String(error) });
    return Number.NaN;
  }
}

async function readiness(deps: ApiContext): Promise<Answer> {
  const reason = deps.service.notReadyReason() ?? (await deps.readiness());
  return reason === null
    ? okay({ status: 'ready' })
    : ok({ status: 503, body: { status: 'not_ready', reason } });
}
