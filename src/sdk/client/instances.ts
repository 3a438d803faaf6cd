import type { Json } from '../../core/json.ts';
import type { IdSource } from '../../engine/ids.ts';
import { inspectionCalls } from './inspection.ts';
import { instanceLists } from './instance-lists.ts';
import type { CallOptions, ListPage, Send } from './send.ts';
import { segment } from './send.ts';
import type { SequenceTarget } from './sequences.ts';
import type {
  Artifacts,
  AuditEntry,
  BlockOutput,
  BlockTrace,
  ContextSections,
  EffectReceipt,
  Explanation,
  Instance,
  InstanceState,
  LogLine,
  Node,
  RetriedInstance,
  Started,
  StartedBatch,
  StartInput,
} from './wire.ts';

/**
 * A start. The sequence is named by the id of one version, or by name: then the newest version is taken that is not
 * deprecated. With `idempotency_key` any later start of that key answers the first instance.
 */
export type StartRequest = Omit<StartInput, 'sequence_id' | 'tenant_id' | 'namespace'> &
  SequenceTarget & {
    /** Default: the client's. */
    readonly tenant_id?: string;
    /** Default: `default`. */
    readonly namespace?: string;
  };

/** What a person answers at a gate: the `value` of one of its choices. */
export interface GateAnswer {
  readonly value: string;
  readonly comment?: string;
}

/** `pause`, `resume`, `cancel` and `update_context` mean something to the engine; other words are the sequence's own. */
export interface NewSignal {
  readonly type: string;
  readonly payload?: Json;
  /** A repeat with the same id has no effect; made by the client when absent. */
  readonly signal_id?: string;
}

const ENGINE_SIGNALS = new Set(['pause', 'resume', 'cancel', 'update_context']);

export type Instances = ReturnType<typeof instanceCalls>;

export function instanceCalls(send: Send, parts: { readonly ids: IdSource; readonly tenant: string | null }) {
  const filledIn = (request: StartRequest): StartInput => ({
    tenant_id: parts.tenant ?? '',
    namespace: 'default',
    ...request,
  });
  const signal = (id: string, { type, payload = null, signal_id }: NewSignal, options: CallOptions = {}) => {
    const body = {
      signal_type: ENGINE_SIGNALS.has(type) ? type : { custom: type.replace(/^custom:/, '') },
      payload,
      signal_id: signal_id ?? parts.ids.newId(),
    };
    const path = `/instances/${segment(id)}/signals`;
    return send<{ signal_id: string }>({ method: 'POST', path, body, idempotent: true }, options);
  };
  return {
    /** Starts an instance; see `StartRequest`. */
    start: (request: StartRequest, options: CallOptions = {}) => {
      const body = filledIn(request);
      const idempotent = (body.idempotency_key ?? '') === '' ? 'by_key' : true;
      return send<Started>({ method: 'POST', path: '/instances', body, idempotent }, options);
    },
    /** Starts up to 10,000 instances, all or none. A known idempotency key refuses them all. */
    startBatch: (requests: readonly StartRequest[], options: CallOptions = {}) => {
      const call = {
        method: 'POST',
        path: '/instances/batch',
        body: { instances: requests.map(filledIn) },
        idempotent: 'by_key',
      } as const;
      return send<StartedBatch>(call, options);
    },
    ...instanceLists(send),
    ...instanceReads(send),
    ...inspectionCalls(send),
    signal,
    /** Answers the gate of a step. An answer that is not among the choices changes nothing. */
    answer: (id: string, blockId: string, answer: GateAnswer, options: CallOptions = {}) => {
      const payload: Json = { ...answer };
      return signal(id, { type: `human_input:${blockId}`, payload }, options);
    },
    ...instanceChanges(send),
  };
}

function instanceReads(send: Send) {
  const read =
    <Answer>(part = '') =>
    (id: string, options: CallOptions = {}) =>
      send<Answer>({ method: 'GET', path: `/instances/${segment(id)}${part}`, idempotent: true }, options);
  return {
    get: read<Instance>(),
    /**
     * What the params of a step resolve to from what the run has now, value by value. With `at_block` only outputs of root
     * blocks before that one count.
     */
    resolvedInput: (
      id: string,
      blockId: string,
      query: { readonly at_block?: string } = {},
      options: CallOptions = {},
    ) => {
      const path = `/instances/${segment(id)}/blocks/${segment(blockId)}/resolved-input`;
      return send<BlockTrace>({ method: 'GET', path, query, idempotent: true }, options);
    },
    /** The execution tree in document order; empty before the first claim. */
    tree: read<readonly Node[]>('/tree'),
    /** Results, oldest first. `include: 'markers'` adds the rows of failed tries. */
    outputs: (id: string, filter: { readonly include?: 'markers' } = {}, options: CallOptions = {}) => {
      const path = `/instances/${segment(id)}/outputs`;
      const query = { include: filter.include };
      return send<readonly BlockOutput[]>({ method: 'GET', path, query, idempotent: true }, options);
    },
    /** What its `sub_sequence` blocks have started. */
    children: (id: string, page: ListPage = {}, options: CallOptions = {}) => {
      const path = `/instances/${segment(id)}/children`;
      return send<readonly Instance[]>(
        { method: 'GET', path, query: { ...page }, idempotent: true },
        options,
      );
    },
    logs: read<readonly LogLine[]>('/logs'),
    audit: read<readonly AuditEntry[]>('/audit'),
    /** What the instance waits for, since when, and what happens next. */
    explain: read<Explanation>('/explain'),
    /** What is known of the outside effects of the steps, one receipt per attempt, oldest first. */
    effects: read<readonly EffectReceipt[]>('/effects'),
    /** What steps have kept, without the bytes. */
    artifacts: read<Artifacts>('/artifacts'),
  };
}

function instanceChanges(send: Send) {
  return {
    /** Puts a failed instance back to work; what is completed stays so. */
    retry: (id: string, options: CallOptions = {}) =>
      send<RetriedInstance>(
        { method: 'POST', path: `/instances/${segment(id)}/retry`, idempotent: 'by_key' },
        options,
      ),
    /** Sets the state by hand; `next_fire_at` (RFC 3339) says when a scheduled one is due. */
    setState: (
      id: string,
      change: { readonly state: InstanceState; readonly next_fire_at?: string },
      options: CallOptions = {},
    ) =>
      send<undefined>(
        { method: 'PATCH', path: `/instances/${segment(id)}/state`, body: change, idempotent: 'by_key' },
        options,
      ),
    /** Replaces the named sections of the context, or merges into them by key. */
    patchContext: (
      id: string,
      context: ContextSections,
      { mode }: { readonly mode?: 'replace' | 'merge' } = {},
      options: CallOptions = {},
    ) => {
      const path = `/instances/${segment(id)}/context`;
      const call = {
        method: 'PATCH',
        path,
        query: { mode },
        body: { context },
        idempotent: 'by_key',
      } as const;
      return send<undefined>(call, options);
    },
  };
}
