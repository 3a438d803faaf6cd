import type { JsonObject } from '../core/json.ts';
import type { Activity } from '../engine/streams/activity.ts';
import type { OpenStream } from './streams.ts';
import type { KeyRing } from '../engine/api-keys/key-ring.ts';
import type { CallRate } from '../engine/call-rate.ts';
import type { Refusal } from '../engine/refusal.ts';
import type { Store } from '../ports/store/store.ts';
import type { AnswerLimit } from './answer-limit.ts';
import type { UseCaseDeps } from '../engine/use-case.ts';

/** All that the API needs. Nothing here is made by the API itself, so that every host can bring its own. */
export interface ApiDeps extends UseCaseDeps {
  readonly settings: ApiSettings;
  readonly service: ServiceFacts;
  /** Address of the peer, from what the host hands to the app; empty when it is unknown. */
  readonly peerOf: (hostEnv: unknown) => string;
  /** Addresses that a trusted proxy tells, its own peer last; default: `x-forwarded-for`, where the host leaves that as it came. */
  readonly forwardedOf?: (headers: Headers) => string | null;
  /** A file of Swagger UI; null when it is not there. Absent where the host brings none: then there is no page. */
  readonly swaggerFile?: (name: SwaggerFile) => Uint8Array | null;
  /** What is written in this process, for those who follow it. */
  readonly activity: Activity;
  /**
   * The parts of one call, from what the host hands to the app; absent: those above serve all calls. For hosts that tie IO
   * to the call which began it.
   */
  readonly partsOf?: (hostEnv: unknown) => CallParts;
  /**
   * What the host does for a request whose caller is known and whose parts are right, before anything else is asked of the
   * database; a refusal of the host ends the request there. Requests that are refused earlier, and what anybody may ask, cost
   * nothing of it (docs/decisions/0020). Absent: nothing.
   *
   * @param mayWrite The request may store something that falls due.
   */
  readonly onAdmitted?: (mayWrite: boolean) => Promise<Refusal | null>;
}

/** What has IO under way. */
export type CallParts = Pick<ApiDeps, 'runner' | 'definitions' | 'hints' | 'outbox' | 'onAdmitted'>;

/** What routes get: the parts from outside, and what one API keeps for itself. */
export interface ApiContext extends ApiDeps {
  /** Who has asked, where the host's peer may be a trusted proxy. */
  readonly peerBehind: (peer: string, forwardedFor: string | null) => string;
  /** Public webhooks by peer and slug. */
  readonly webhookRate: CallRate;
  /** Event streams that are open in this process. */
  readonly streams: Set<OpenStream>;
  readonly keyRing: KeyRing;
  /** Calls with a wrong key, and deliveries without proof, by the network of the peer. */
  readonly strangers: CallRate;
  /** Names of triggers that this process has found. */
  readonly knownSlugs: Set<string>;
  /** Why this process should get no traffic on account of what the database says; null: it should. */
  readonly readiness: () => Promise<'database_unreachable' | 'migrations_pending' | 'draining' | null>;
  /** The store for routes that only read: what tenants have stored may be more than this process can hold. */
  readonly boundedStore: Store;
  /** The OpenAPI document of all routes. */
  readonly openApi: () => Promise<JsonObject>;
}

export type SwaggerFile = 'swagger-ui-bundle.js' | 'swagger-ui.css';

/** The keys are those of the settings (http-api.md 30). */
export interface ApiSettings {
  /** Root key; null is the insecure mode, in which every caller is an administrator. */
  readonly apiKey: string | null;
  readonly requireTenantHeader: boolean;
  /** Tenant of a call without header, where none is required; null: the call sees all tenants. */
  readonly defaultTenantId: string | null;
  readonly corsOrigins: readonly string[];
  /** 0: no cap. */
  readonly maxConcurrentRequests: number;
  readonly maxBodyBytes: number;
  readonly maxWebhookBodyBytes: number;
  readonly webhookRatePerSec: number;
  /** Addresses and networks of proxies that are believed about who calls; absent: nobody is. */
  readonly trustedProxies?: readonly string[];
  /** Event streams open at once. */
  readonly maxStreams: number;
  /** Ends an event stream after this time, so that its client comes back (RULINGS B17); null: never. */
  readonly streamMaxMs: number | null;
  /** Refuses names and origins that are not this machine's: for a server without keys on the loopback interface. */
  readonly localCallersOnly: boolean;
  /** What of one answer the host passes on; absent: 64 MiB. */
  readonly answerLimit?: AnswerLimit;
  readonly envLabel: string | null;
  readonly envColor: string | null;
}

export interface ServiceFacts {
  /** Version of the package. */
  readonly version: string;
  /** Schema version that this build needs. */
  readonly schemaVersion: number;
  /** Whether the node of this process was told elsewhere to drain; absent where its own heartbeat tells. */
  readonly isDrained?: () => Promise<boolean>;
  /** Why the process should get no traffic, apart from its database; null when it should. */
  readonly notReadyReason: () => 'migrations_pending' | 'engine_stopped' | 'draining' | null;
}
