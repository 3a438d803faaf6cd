import { describe, expect, it } from 'vitest';
import { laterVariables } from '../../src/settings/later-variables.ts';
import { environmentName, settingKeys, settingsSchema } from '../../src/settings/schema.ts';

/** The table of http-api.md 30: each variable with its default. undefined: none, or one that the host or the command decides. */
const VARIABLES: Readonly<Record<string, unknown>> = {
  HTTP_ADDR: { host: '127.0.0.1', port: 8080 },
  DATABASE_URL: { kind: 'folder', folder: '.stepwell' },
  DATABASE_MAX_CONNECTIONS: 64,
  DATABASE_SCHEMA: 'public',
  RUN_MIGRATIONS: undefined,
  API_KEY: undefined,
  INSECURE: false,
  REQUIRE_TENANT_HEADER: true,
  ALLOW_NO_TENANT_ISOLATION: false,
  CORS_ORIGINS: [],
  MAX_CONCURRENT_REQUESTS: 1024,
  MAX_BODY_BYTES: 10_485_760,
  MAX_WEBHOOK_BODY_BYTES: 1_048_576,
  MAX_STREAMS: 256,
  WEBHOOK_RATE_PER_SEC: 300,
  TICK_INTERVAL_MS: 100,
  SWEEP_INTERVAL_SECS: 60,
  BATCH_SIZE: 256,
  MAX_CONCURRENT_STEPS: 128,
  MAX_INSTANCES_PER_TENANT: 0,
  SHUTDOWN_GRACE_SECS: 30,
  STALE_INSTANCE_SECS: 300,
  MAX_STEPS_PER_INSTANCE: 0,
  MAX_CONTEXT_BYTES: 262_144,
  EXTERNALIZATION_MODE: 'threshold',
  EXTERNALIZE_CONTEXT_BYTES: 65_536,
  EXTERNALIZE_THRESHOLD: 0,
  CRON_TICK_SECS: 10,
  WORKER_REAPER_TICK_SECS: 30,
  WORKER_REAPER_STALE_SECS: 60,
  NODE_REAPER_TICK_SECS: 60,
  NODE_REAPER_STALE_SECS: 120,
  BREAKER_FAILURE_THRESHOLD: 5,
  BREAKER_COOLDOWN_SECS: 60,
  WEBHOOK_URLS: [],
  WEBHOOK_SECRET: undefined,
  WEBHOOK_TIMEOUT_SECS: 10,
  WEBHOOK_MAX_RETRIES: 3,
  INSTANCE_RETENTION_SECS: 0,
  ARTIFACT_RETENTION_SECS: 0,
  ARTIFACT_BACKEND: 'none',
  ARTIFACT_PATH: 'stepwell-artifacts',
  ARTIFACT_S3_BUCKET: undefined,
  ARTIFACT_S3_REGION: undefined,
  ARTIFACT_S3_ENDPOINT: undefined,
  ARTIFACT_S3_ACCESS_KEY_ID: undefined,
  ARTIFACT_S3_SECRET_ACCESS_KEY: undefined,
  ARTIFACT_S3_ALLOW_HTTP: false,
  ENCRYPTION_KEY: undefined,
  OLD_ENCRYPTION_KEY: undefined,
  ALLOW_INTERNAL_URLS: false,
  EMIT_DEDUPE_RETENTION_DAYS: 30,
  MODEL_PRICING: undefined,
  PLANS: undefined,
  ENV_LABEL: undefined,
  ENV_COLOR: undefined,
  NODE_NAME: undefined,
  LOG_LEVEL: 'info',
  LOG_JSON: false,
  OTLP_ENDPOINT: undefined,
};

describe('the variables of http-api.md 30', () => {
  const defaults = new Map(
    Object.entries(settingsSchema.parse({})).map(([key, value]) => [key, value] as const),
  );

  it.each(Object.entries(VARIABLES))(
    'STEPWELL_%s is known, and is %j unless somebody says otherwise',
    (name, value) => {
      const variable = `STEPWELL_${name}`;
      const key = settingKeys.find((one) => environmentName(one) === variable);
      // What a later release reads has no default yet.
      const isLater = laterVariables.has(variable);
      expect([variable, key !== undefined || isLater]).toEqual([variable, true]);
      const found = key === undefined ? value : (defaults.get(key) ?? undefined);
      expect(value === undefined ? undefined : found).toEqual(value);
    },
  );
});
