import * as z from 'zod';
import { isSealKey } from '../adapters/seal.ts';
import { isNetwork } from '../core/network/trusted-proxies.ts';
import { TenantPlans } from '../core/plans.ts';
import {
  databaseUrl,
  jsonOf,
  listenAddress,
  oneOf,
  secretOf,
  text,
  textList,
  wholeNumber,
  yesOrNo,
} from './kinds.ts';

const DAY_SECS = 86_400;

/**
 * Every setting of this release (http-api.md 30, RULINGS B19): the key `leaseMs` is `STEPWELL_LEASE_MS` in the
 * environment and `leaseMs` in stepwell.config.ts. docs/settings.md is checked against this table.
 */
export const settingsSchema = z.object({
  httpAddr: listenAddress()
    .default({ host: '127.0.0.1', port: 8080 })
    .describe('Address to listen on. `dev` listens on loopback only.'),
  databaseUrl: databaseUrl()
    .default({ kind: 'folder', folder: '.stepwell' })
    .describe('Where the data lives: a PostgreSQL URL, `pglite:<folder>` or `pglite:memory`.'),
  databaseMaxConnections: wholeNumber(1, 1000)
    .default(64)
    .describe('Size of the connection pool of a PostgreSQL server.'),
  databasePooler: oneOf(['auto', 'transaction', 'none'])
    .default('auto')
    .describe('What stands before a PostgreSQL server. `auto`: what its address tells (docs/databases.md).'),
  databaseCa: text('certificates in PEM form, or the path of such a file')
    .optional()
    .describe("Authorities that a PostgreSQL server's certificate is checked with. Default: those of Node."),
  runMigrations: yesOrNo()
    .optional()
    .describe('Apply missing migrations at start. Always on for embedded databases and in `dev`.'),
  apiKey: secretOf('a key of printable ASCII characters', isKey)
    .optional()
    .describe(
      'Root key, of printable ASCII. With it every call needs a key. Without it, on loopback, foreign names get 403.',
    ),
  insecure: yesOrNo()
    .default(false)
    .describe('Let `serve` start without a root key: every caller is an administrator.'),
  requireTenantHeader: yesOrNo()
    .default(true)
    .describe(
      'Refuse calls without `x-tenant-id`. `false`: they see all tenants. Unset in `dev` without a root key: they are of tenant `default`.',
    ),
  allowNoTenantIsolation: yesOrNo()
    .default(false)
    .describe('Needed to switch the tenant header off while a root key is set.'),
  corsOrigins: textList('a comma list of origins such as https://app.example.com, or *', isOrigin)
    .default([])
    .describe('Origins that browsers may call from. Empty: none.'),
  maxConcurrentRequests: wholeNumber(0, 1_000_000)
    .default(1024)
    .describe('Requests served at once; more get 503. 0: no cap.'),
  maxBodyBytes: wholeNumber(1024, 2 ** 30)
    .default(10 * 2 ** 20)
    .describe('Largest request body in bytes. Function hosts may pass on less.'),
  maxWebhookBodyBytes: wholeNumber(1024, 2 ** 30)
    .default(2 ** 20)
    .describe('Largest body of a public webhook in bytes.'),
  webhookRatePerSec: wholeNumber(1, 1_000_000)
    .default(300)
    .describe('Public webhook calls per second of one peer to one trigger, counted by each process.'),
  trustedProxies: textList('a comma list of addresses and networks such as 10.0.0.0/8', isNetwork)
    .default([])
    .describe(
      "Proxies that are believed when they tell who calls (`x-forwarded-for`; on Lambda CloudFront's own header): addresses and networks.",
    ),
  maxStreams: wholeNumber(0, 1_000_000)
    .default(256)
    .describe('Event streams open at once; more are refused.'),
  tickIntervalMs: wholeNumber(1, 60_000)
    .default(100)
    .describe("How often the engine looks for other processes' work, in milliseconds."),
  cronTickSecs: wholeNumber(1, DAY_SECS).default(10).describe('How often schedules are checked, in seconds.'),
  sweepIntervalSecs: wholeNumber(1, DAY_SECS)
    .default(60)
    .describe(
      'How often leftovers of dead processes are swept up, in seconds. The least of this and the two ticks counts.',
    ),
  leaseMs: wholeNumber(1000, DAY_SECS * 1000)
    .default(60_000)
    .describe('How long a process may hold an instance without a sign of life, in milliseconds.'),
  batchSize: wholeNumber(1, 1000).default(256).describe('Instances per claim.'),
  maxConcurrentSteps: wholeNumber(1, 100_000).default(128).describe('Steps running at once in a process.'),
  maxInstancesPerTenant: wholeNumber(0, 1000)
    .default(0)
    .describe('Instances of one tenant per claim. 0: no cap.'),
  maxStepsPerInvocation: wholeNumber(0, 1_000_000)
    .default(0)
    .describe('Steps of an instance before it is handed on. 0: no limit.'),
  maxStepsPerInstance: wholeNumber(0, 1_000_000_000)
    .default(0)
    .describe('Handler calls of one run, retries included, after which it fails. 0: no limit.'),
  breakerFailureThreshold: wholeNumber(1, 1000)
    .default(5)
    .describe('Failures in a row after which the circuit breaker of a handler opens.'),
  breakerCooldownSecs: wholeNumber(1, DAY_SECS)
    .default(60)
    .describe('How long an open circuit breaker lets nobody through, in seconds.'),
  maxContextBytes: wholeNumber(0, 2 ** 30)
    .default(262_144)
    .describe('Largest context of an instance in bytes. 0: no check.'),
  workerReaperTickSecs: wholeNumber(1, DAY_SECS)
    .default(30)
    .describe('How often silent workers are looked for, in seconds.'),
  workerReaperStaleSecs: wholeNumber(1, DAY_SECS)
    .default(60)
    .describe('Silence after which a claimed worker task is given to another worker, in seconds.'),
  nodeReaperTickSecs: wholeNumber(1, DAY_SECS)
    .default(60)
    .describe('How often silent processes are looked for, in seconds.'),
  nodeReaperStaleSecs: wholeNumber(10, DAY_SECS)
    .default(120)
    .describe('Silence after which a process counts as stopped, in seconds.'),
  shutdownGraceSecs: wholeNumber(0, DAY_SECS)
    .default(30)
    .describe('How long a stopping process waits for running steps, in seconds.'),
  allowInternalUrls: yesOrNo()
    .default(false)
    .describe('Let handlers reach private and loopback addresses. For tests and closed networks.'),
  encryptionKey: secretOf('64 hex digits', isSealKey)
    .optional()
    .describe('Key that seals stored credentials. Without it a server with a root key stores none.'),
  oldEncryptionKey: secretOf('64 hex digits', isSealKey)
    .optional()
    .describe('The key before, which still opens what it has sealed.'),
  webhookUrls: textList('a comma list of http or https URLs', isWebUrl)
    .default([])
    .describe('Targets that are told of ends and alerts of instances. Empty: none.'),
  webhookSecret: text('a secret that is not empty')
    .optional()
    .describe('Signs outgoing webhooks. Without it they are sent unsigned.'),
  webhookTimeoutSecs: wholeNumber(1, 300)
    .default(10)
    .describe('How long one attempt to deliver a webhook may take, in seconds.'),
  webhookMaxRetries: wholeNumber(0, 20)
    .default(3)
    .describe('Attempts after the first one before a webhook is parked.'),
  webhookCancelled: yesOrNo().default(false).describe('Tell the targets of cancelled instances too.'),
  plans: jsonOf(TenantPlans, 'a JSON object with a plan by tenant')
    .optional()
    .describe('Plans by tenant as JSON: what a tenant may start. `*` is the plan of all others.'),
  handlers: text('the path of a file')
    .optional()
    .describe('File with handlers of your own (`defineHandler`), TypeScript or JavaScript.'),
  envLabel: text().optional().describe('Name of the environment, shown by `/info`.'),
  envColor: text().optional().describe('Colour of the environment, shown by `/info`.'),
  nodeName: text().optional().describe('Name of this process. Default: host name and process id.'),
  buildId: text()
    .optional()
    .describe(
      'Name of the build, told to other processes. Default: made from the version and the handler names.',
    ),
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least level that is logged.'),
  logJson: yesOrNo().default(false).describe('One JSON object per log line instead of text.'),
});

/** All settings, each in its own type. */
export type Settings = z.infer<typeof settingsSchema>;
export type SettingKey = keyof Settings;

export function isSettingKey(name: string): name is SettingKey {
  return Object.hasOwn(settingsSchema.shape, name);
}

export const settingKeys: readonly SettingKey[] = Object.keys(settingsSchema.shape).filter(isSettingKey);

/** `leaseMs` -> `STEPWELL_LEASE_MS`. */
export function environmentName(key: SettingKey): string {
  return `STEPWELL_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Hosts disagree on what other characters of a header are. */
function isKey(text: string): boolean {
  return /^[ -~]+$/.test(text);
}

export function isWebUrl(entry: string): boolean {
  return URL.canParse(entry) && /^https?:$/.test(new URL(entry).protocol);
}

function isOrigin(entry: string): boolean {
  return entry === '*' || (URL.canParse(entry) && new URL(entry).origin === entry);
}
