import { systemClock, systemEntropy } from '../adapters/system.ts';
import { createIdSource } from '../engine/ids.ts';
import type { Clock, Entropy } from '../ports/system.ts';
import type { FetchLike } from './client/exchange.ts';
import { instanceCalls, type Instances } from './client/instances.ts';
import { type CallOptions, createSend } from './client/send.ts';
import { sequenceCalls, type Sequences } from './client/sequences.ts';
import { taskCalls, type Tasks } from './client/tasks.ts';
import { triggerCalls, type Triggers } from './client/triggers.ts';
import type { Approvals, Limits } from './client/wire.ts';

export { ApiError } from './client/api-error.ts';
export type { InstanceFilter, InstanceQuery } from './client/instance-lists.ts';
export type { GateAnswer, NewSignal, StartRequest } from './client/instances.ts';
export type { CallOptions, ListPage } from './client/send.ts';
export type { CheckedSequence, TemplateSample } from './client/sequence-checks.ts';
export type { PublishedSequence, SequenceFilter, SequenceName, SequenceTarget } from './client/sequences.ts';
export type {
  Checkpoint,
  PollRequest,
  TaskClaim,
  TaskFailure,
  TaskFilter,
  TaskLogLine,
  WorkerFilter,
} from './client/tasks.ts';
export type * from './client/wire.ts';
export type { SequenceDraft, StoredSequence } from './sequence-draft.ts';

export interface ClientOptions {
  /** Address of the server, such as `http://127.0.0.1:8080`; a path in it is kept. */
  readonly url: string;
  /** Default `default`. null sends none, with which an administrator sees all tenants. */
  readonly tenant?: string | null;
  readonly apiKey?: string | undefined;
  /** For one try; default 30 s. */
  readonly timeoutMs?: number;
  /** Tries of a call that may be repeated; default 4. */
  readonly maxTries?: number;
  /** Default: the global one. */
  readonly fetch?: FetchLike;
  /** Times the limits and the pauses between tries; default: the machine's. */
  readonly clock?: Pick<Clock, 'nowMs' | 'after'>;
  readonly entropy?: Entropy;
}

export interface ApprovalFilter {
  readonly namespace?: string;
  readonly instance_id?: string;
  readonly sequence_id?: string;
  /** Default `newest` instance; `deadline`: what times out next. */
  readonly order?: 'newest' | 'deadline';
  /** Default 100, at most 1000. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface LimitFilter {
  readonly concurrency_key?: string;
  /** Default 100, at most 1000. */
  readonly limit?: number;
  readonly offset?: number;
}

/** The HTTP API of a server, typed. Bodies are those of the wire, so that what the API's documents say holds here too. */
export interface Client {
  readonly tenant: string | null;
  readonly sequences: Sequences;
  readonly instances: Instances;
  readonly approvals: {
    /** Gates that wait for an answer, newest instance first. Answer them with `instances.answer`. */
    readonly list: (filter?: ApprovalFilter, options?: CallOptions) => Promise<Approvals>;
  };
  readonly triggers: Triggers;
  readonly tasks: Tasks;
  /** Who holds the slots of concurrency keys and who waits for them, and how far rate limits are used. */
  readonly limits: (filter?: LimitFilter, options?: CallOptions) => Promise<Limits>;
}

/**
 * A client of one server, for one tenant. Needs nothing but `fetch`, so it runs on Node, on Workers and in browsers.
 *
 * Every call rejects with an `ApiError`. Calls that may be repeated (reads, deletes, and what carries a key) are tried
 * again after no answer, 408, 429 and 5xx; all others are sent once. Throws a TypeError when the address is none.
 */
export function createClient(options: ClientOptions): Client {
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new TypeError(`url is no address: ${options.url}`);
  }
  const { clock = systemClock, entropy = systemEntropy, tenant = 'default' } = options;
  const send = createSend({
    url: options.url,
    tenant,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 30_000,
    maxTries: options.maxTries ?? 4,
    // Called as a function of its own: as a member, browsers refuse it.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock,
    entropy,
  });
  const ids = createIdSource(clock, entropy);
  const sequences = sequenceCalls(send, { ids, clock, tenant });
  return {
    tenant,
    sequences,
    instances: instanceCalls(send, { ids, tenant }),
    approvals: {
      list: (filter = {}, call = {}) =>
        send({ method: 'GET', path: '/approvals', query: { ...filter }, idempotent: true }, call),
    },
    triggers: triggerCalls(send, tenant),
    tasks: taskCalls(send),
    limits: (filter = {}, call = {}) =>
      send({ method: 'GET', path: '/limits', query: { ...filter }, idempotent: true }, call),
  };
}
