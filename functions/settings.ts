import * as z from 'zod';
import { EXPECTED_ADDRESS, isAddress } from '../src/adapters/postgres/connection/address.ts';
import { isSealKey } from '../src/adapters/seal.ts';
import { isNetwork } from '../src/core/network/trusted-proxies.ts';
import { TenantPlans } from '../src/core/plans.ts';

const number = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
const flag = z
  .enum(['1', 'true', '0', 'false', ''])
  .transform((text) => text === '1' || text === 'true')
  .optional();
const words = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()])));

/** JSON text with a plan by tenant. */
const plans = z.string().transform((text, context): TenantPlans => {
  try {
    const parsed = TenantPlans.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch {
    // What is no JSON is refused like what is no plan.
  }
  context.addIssue({ code: 'custom', message: 'expected a JSON object with a plan by tenant' });
  return z.NEVER;
});

/** What every function host reads (http-api.md 30); names and defaults are those of the server. */
const HostEnvironment = z.object({
  STEPWELL_DATABASE_URL: z.string().refine(isAddress, `expected ${EXPECTED_ADDRESS}`),
  /** What one invocation takes at most; the hosts stop it after 15 minutes. */
  STEPWELL_INVOCATION_SECS: number(10, 840).default(60),
  STEPWELL_API_KEY: z.string().min(1).optional(),
  STEPWELL_INSECURE: flag,
  STEPWELL_REQUIRE_TENANT_HEADER: flag,
  STEPWELL_ALLOW_NO_TENANT_ISOLATION: flag,
  STEPWELL_CORS_ORIGINS: words,
  STEPWELL_MAX_BODY_BYTES: number(1024, 2 ** 30).default(10 * 2 ** 20),
  STEPWELL_MAX_WEBHOOK_BODY_BYTES: number(1024, 2 ** 30).default(2 ** 20),
  STEPWELL_WEBHOOK_RATE_PER_SEC: number(1, 1_000_000).default(300),
  STEPWELL_TRUSTED_PROXIES: words.refine(
    (entries) => entries.every(isNetwork),
    'expected addresses and networks',
  ),
  STEPWELL_LEASE_MS: number(1000, 86_400_000).optional(),
  STEPWELL_MAX_CONCURRENT_STEPS: number(1, 100_000).default(128),
  STEPWELL_MAX_INSTANCES_PER_TENANT: number(0, 1000).default(0),
  STEPWELL_MAX_STEPS_PER_INVOCATION: number(0, 1_000_000).default(0),
  STEPWELL_MAX_STEPS_PER_INSTANCE: number(0, 1_000_000_000).default(0),
  STEPWELL_BREAKER_FAILURE_THRESHOLD: number(1, 1000).default(5),
  STEPWELL_BREAKER_COOLDOWN_SECS: number(1, 86_400).default(60),
  STEPWELL_MAX_CONTEXT_BYTES: number(0, 2 ** 30).default(262_144),
  STEPWELL_WORKER_REAPER_STALE_SECS: number(1, 86_400).default(60),
  STEPWELL_ALLOW_INTERNAL_URLS: flag,
  STEPWELL_NODE_NAME: z.string().min(1).optional(),
  STEPWELL_NODE_REAPER_TICK_SECS: number(1, 86_400).default(60),
  STEPWELL_NODE_REAPER_STALE_SECS: number(10, 86_400).default(120),
  STEPWELL_PLANS: plans.optional(),
  STEPWELL_WEBHOOK_URLS: words,
  STEPWELL_WEBHOOK_SECRET: z.string().min(1).optional(),
  STEPWELL_WEBHOOK_TIMEOUT_SECS: number(1, 300).default(10),
  STEPWELL_WEBHOOK_MAX_RETRIES: number(0, 20).default(3),
  STEPWELL_WEBHOOK_CANCELLED: flag,
  STEPWELL_ENCRYPTION_KEY: z.string().refine(isSealKey, 'expected 64 hex digits').optional(),
  STEPWELL_OLD_ENCRYPTION_KEY: z.string().refine(isSealKey, 'expected 64 hex digits').optional(),
  STEPWELL_ENV_LABEL: z.string().optional(),
  STEPWELL_ENV_COLOR: z.string().optional(),
  STEPWELL_BUILD_ID: z.string().min(1).optional(),
  STEPWELL_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

const LambdaEnvironment = HostEnvironment.extend({
  /** Default: `neon` for hosts under neon.tech, `pg` for all others. */
  STEPWELL_DATABASE_DRIVER: z.enum(['neon', 'pg']).optional(),
  /** What stands before the database, for the driver `pg`. Default: what the address tells (docs/databases.md). */
  STEPWELL_DATABASE_POOLER: z.enum(['auto', 'transaction', 'none']).default('auto'),
  /** Authorities that the driver `pg` trusts: PEM text, or the path of a PEM file. Default: those of Node. */
  STEPWELL_DATABASE_CA: z.string().min(1).optional(),
  STEPWELL_QUEUE_URL: z.string().min(1),
  /** Economy mode: the group of one-off schedules, who may call the sweep for them, and the sweep itself. */
  STEPWELL_WAKE_GROUP: z.string().min(1).optional(),
  STEPWELL_WAKE_ROLE_ARN: z.string().min(1).optional(),
  STEPWELL_WAKE_TARGET_ARN: z.string().min(1).optional(),
});

const WorkerEnvironment = HostEnvironment;

/** What all function hosts have. */
export type HostSettings = z.infer<typeof HostEnvironment>;
export type FunctionSettings = z.infer<typeof LambdaEnvironment>;
export type WorkerSettings = z.infer<typeof WorkerEnvironment>;

type Variables = Readonly<Record<string, unknown>>;

/** Reads the settings of a Lambda; throws with the names of all that are missing or wrong, never with their values. */
export function readSettings(environment: Variables): FunctionSettings {
  return read(LambdaEnvironment, environment);
}

/** Reads the settings of a Worker from its variables and secrets; its bindings are left alone. Throws as `readSettings`. */
export function readWorkerSettings(environment: Variables): WorkerSettings {
  return read(WorkerEnvironment, environment);
}

function read<Settings>(schema: z.ZodType<Settings>, environment: Variables): Settings {
  const settings = schema.safeParse(environment);
  if (!settings.success) {
    const problems = settings.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the environment of this function is not complete: ${problems.join('; ')}`);
  }
  return settings.data;
}
