import type { CallOptions, Query, Send } from './send.ts';
import type { Instance, InstanceState, InstanceSummary, Page } from './wire.ts';

export interface InstanceFilter {
  readonly namespace?: string;
  readonly sequence_id?: string;
  /** Instances of any version of this name. */
  readonly sequence_name?: string;
  readonly state?: InstanceState | readonly InstanceState[];
  /** All of them must hold. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The beginning of an id. */
  readonly id_prefix?: string;
  readonly idempotency_key?: string;
  readonly concurrency_key?: string;
  /** Leaves out what `sub_sequence` blocks have started. */
  readonly root_only?: boolean;
  /** RFC 3339; created later. */
  readonly created_after?: string;
  /** RFC 3339; created earlier. */
  readonly created_before?: string;
}

export interface InstanceQuery extends InstanceFilter {
  /** Default `updated`: newest change first. */
  readonly order?: 'updated' | 'created';
  /** Default 100, at most 1000. */
  readonly limit?: number;
  readonly offset?: number;
  /** `next_cursor` of the page before, with the same filter and order. */
  readonly cursor?: string;
}

export function instanceLists(send: Send) {
  const list = (query: InstanceQuery = {}, options: CallOptions = {}) =>
    send<Page<Instance>>(
      { method: 'GET', path: '/instances', query: queryOf(query), idempotent: true },
      options,
    );
  return {
    /** One page, newest change first. */
    list,
    /** All instances that fit, page by page as they are asked for. */
    async *listAll(query: Omit<InstanceQuery, 'cursor' | 'offset'> = {}, options: CallOptions = {}) {
      let cursor: string | undefined;
      do {
        const page: Page<Instance> = await list(cursor === undefined ? query : { ...query, cursor }, options);
        yield* page.items;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
    },
    /** How many there are in each state, each counted to 10,000. */
    summary: (filter: InstanceFilter = {}, options: CallOptions = {}) =>
      send<InstanceSummary>(
        { method: 'GET', path: '/instances/summary', query: queryOf(filter), idempotent: true },
        options,
      ),
    /** Failed instances, newest change first. */
    deadLetters: (query: Omit<InstanceQuery, 'state' | 'cursor'> = {}, options: CallOptions = {}) =>
      send<readonly Instance[]>(
        { method: 'GET', path: '/instances/dlq', query: queryOf(query), idempotent: true },
        options,
      ),
  };
}

function queryOf({ state, metadata = {}, ...rest }: InstanceQuery): Query {
  const named = Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value] as const);
  const states = typeof state === 'object' ? state.join(',') : state;
  return { ...Object.fromEntries(named), ...rest, state: states };
}
