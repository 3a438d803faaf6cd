import * as z from 'zod';
import { databaseAddress, oneOf, text, secretOf, wholeNumber } from '../src/settings/kinds.ts';
import { clashesIn, settingProblem } from '../src/settings/rules.ts';
import { environmentName, isWebUrl, settingKeys, settingsSchema } from '../src/settings/schema.ts';
import { isOurs, unknownVariable } from '../src/settings/unknown-names.ts';

const { shape } = settingsSchema;

/** What every function host reads (http-api.md 30): names, rules and defaults are those of the server. */
const HostEnvironment = z.object({
  STEPWELL_DATABASE_URL: databaseAddress(),
  /** What one invocation takes at most; the hosts stop it after 15 minutes. */
  STEPWELL_INVOCATION_SECS: wholeNumber(10, 840).default(60),
  STEPWELL_API_KEY: shape.apiKey,
  STEPWELL_INSECURE: shape.insecure,
  STEPWELL_REQUIRE_TENANT_HEADER: shape.requireTenantHeader,
  STEPWELL_ALLOW_NO_TENANT_ISOLATION: shape.allowNoTenantIsolation,
  STEPWELL_CORS_ORIGINS: shape.corsOrigins,
  STEPWELL_MAX_BODY_BYTES: shape.maxBodyBytes,
  STEPWELL_MAX_WEBHOOK_BODY_BYTES: shape.maxWebhookBodyBytes,
  STEPWELL_WEBHOOK_RATE_PER_SEC: shape.webhookRatePerSec,
  STEPWELL_TRUSTED_PROXIES: shape.trustedProxies,
  /** Default: what follows from the time that an invocation has. */
  STEPWELL_LEASE_MS: shape.leaseMs.unwrap().optional(),
  STEPWELL_MAX_CONCURRENT_STEPS: shape.maxConcurrentSteps,
  STEPWELL_MAX_INSTANCES_PER_TENANT: shape.maxInstancesPerTenant,
  STEPWELL_MAX_STEPS_PER_INVOCATION: shape.maxStepsPerInvocation,
  STEPWELL_MAX_STEPS_PER_INSTANCE: shape.maxStepsPerInstance,
  STEPWELL_BREAKER_FAILURE_THRESHOLD: shape.breakerFailureThreshold,
  STEPWELL_BREAKER_COOLDOWN_SECS: shape.breakerCooldownSecs,
  STEPWELL_MAX_CONTEXT_BYTES: shape.maxContextBytes,
  STEPWELL_WORKER_REAPER_STALE_SECS: shape.workerReaperStaleSecs,
  STEPWELL_ALLOW_INTERNAL_URLS: shape.allowInternalUrls,
  STEPWELL_NODE_NAME: shape.nodeName,
  STEPWELL_NODE_REAPER_TICK_SECS: shape.nodeReaperTickSecs,
  STEPWELL_NODE_REAPER_STALE_SECS: shape.nodeReaperStaleSecs,
  STEPWELL_PLANS: shape.plans,
  STEPWELL_WEBHOOK_URLS: shape.webhookUrls,
  STEPWELL_WEBHOOK_SECRET: shape.webhookSecret,
  STEPWELL_WEBHOOK_TIMEOUT_SECS: shape.webhookTimeoutSecs,
  STEPWELL_WEBHOOK_MAX_RETRIES: shape.webhookMaxRetries,
  STEPWELL_WEBHOOK_CANCELLED: shape.webhookCancelled,
  STEPWELL_ENCRYPTION_KEY: shape.encryptionKey,
  STEPWELL_OLD_ENCRYPTION_KEY: shape.oldEncryptionKey,
  STEPWELL_ENV_LABEL: shape.envLabel,
  STEPWELL_ENV_COLOR: shape.envColor,
  STEPWELL_BUILD_ID: shape.buildId,
  STEPWELL_LOG_LEVEL: shape.logLevel.transform((level) => (level === 'trace' ? 'debug' : level)),
});

const LambdaEnvironment = HostEnvironment.extend({
  /** Default: `neon` for hosts under neon.tech, `pg` for all others. */
  STEPWELL_DATABASE_DRIVER: oneOf(['neon', 'pg']).optional(),
  /** For the driver `pg`, as the next one. */
  STEPWELL_DATABASE_POOLER: shape.databasePooler,
  STEPWELL_DATABASE_CA: shape.databaseCa,
  STEPWELL_QUEUE_URL: secretOf('the http or https URL of a queue', isWebUrl),
  /** Economy mode: the group of one-off schedules, who may call the sweep for them, and the sweep itself. */
  STEPWELL_WAKE_GROUP: text('the name of a group of schedules').optional(),
  STEPWELL_WAKE_ROLE_ARN: text('the ARN of a role').optional(),
  STEPWELL_WAKE_TARGET_ARN: text('the ARN of a function').optional(),
});

const WorkerEnvironment = HostEnvironment;

/** What all function hosts have. */
export type HostSettings = z.infer<typeof HostEnvironment>;
export type FunctionSettings = z.infer<typeof LambdaEnvironment>;
export type WorkerSettings = z.infer<typeof WorkerEnvironment>;

type Variables = Readonly<Record<string, unknown>>;

/** Set by the deployment for itself, and the bindings of a Worker. */
const NO_SETTINGS: ReadonlySet<string> = new Set(
  ['MIGRATED_BY', 'LOGIN', 'LOGIN_PASSWORD', 'TURNS', 'WAKER', 'VERSION'].map((name) => `STEPWELL_${name}`),
);

/**
 * Reads the settings of a Lambda. An empty variable counts as absent. Throws with a sentence for each that is missing or wrong, never
 * with its value.
 */
export function readSettings(environment: Variables): FunctionSettings {
  const settings = read(LambdaEnvironment, environment);
  const { STEPWELL_WAKE_GROUP: group, STEPWELL_WAKE_ROLE_ARN: role } = settings;
  const isAimed = settings.STEPWELL_WAKE_TARGET_ARN !== undefined;
  const isHalf = (group === undefined) !== (role === undefined) || (isAimed && group === undefined);
  refuseIf(
    isHalf
      ? [
          'STEPWELL_WAKE_GROUP and STEPWELL_WAKE_ROLE_ARN go together, and STEPWELL_WAKE_TARGET_ARN with them.',
        ]
      : [],
  );
  return settings;
}

/** Reads the settings of a Worker from its variables and secrets; its bindings are left alone. Throws as `readSettings`. */
export function readWorkerSettings(environment: Variables): WorkerSettings {
  return read(WorkerEnvironment, environment);
}

/**
 * What the migrating function of a deployment reads: its own, and, so that nothing is changed by a deployment whose other functions
 * could not work, all that they will. What the deployment gives those alone stands in here.
 */
export function readDeploySettings(environment: Variables): FunctionSettings {
  const theirs = { STEPWELL_QUEUE_URL: 'https://queue.invalid/', STEPWELL_API_KEY: 'root-key' };
  return readSettings({ ...environment, ...theirs });
}

/** A sentence for each variable `STEPWELL_…` that a function of this kind does not read. */
export function settingWarnings(host: 'lambda' | 'worker', environment: Variables): readonly string[] {
  const known = Object.keys((host === 'lambda' ? LambdaEnvironment : WorkerEnvironment).shape);
  const ofServers = new Set(settingKeys.map(environmentName));
  return Object.keys(environment).flatMap((name) => {
    if (!isOurs(name) || known.includes(name) || NO_SETTINGS.has(name)) return [];
    return [ofServers.has(name) ? `${name} has no effect on this host.` : unknownVariable(name, known)];
  });
}

function read<Settings extends HostSettings>(schema: z.ZodType<Settings>, environment: Variables): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => !isBlank(value)));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [name = ''], message }) =>
      settingProblem(String(name), message, Object.hasOwn(given, name) ? given[String(name)] : undefined),
    );
    throw refusal(problems);
  }
  const { data } = parsed;
  refuseIf(
    clashesIn({
      apiKey: data.STEPWELL_API_KEY,
      requireTenantHeader: data.STEPWELL_REQUIRE_TENANT_HEADER,
      allowNoTenantIsolation: data.STEPWELL_ALLOW_NO_TENANT_ISOLATION,
      corsOrigins: data.STEPWELL_CORS_ORIGINS,
    }),
  );
  return data;
}

function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}

function refuseIf(problems: readonly string[]): void {
  if (problems.length > 0) throw refusal(problems);
}

function refusal(problems: readonly string[]): Error {
  return new Error(`the settings of this function are refused: ${problems.join(' ')}`);
}
