import type { JsonObject } from '../../../src/core/json.ts';
import { TENANT } from '../../api/support/api-fixture.ts';
import { nextId } from '../../support/turn-builder.ts';

/** Where a member of a request is shown when the request leaves it out. */
export type Shown = 'omitted' | 'null' | { readonly is: unknown } | 'not shown';

/**
 * A member of the body of a creation, as the tables of http-api.md have it: its type, whether it must be there, what is shown
 * when it is not, and values that fit. `words` are the values of an enumeration.
 */
export interface Field {
  readonly type: 'uuid' | 'str' | 'int' | 'num' | 'bool' | 'ts' | 'json' | 'obj' | 'list' | 'enum' | 'date';
  readonly required?: true;
  readonly shown: Shown;
  readonly words?: readonly string[];
  /** A value that is taken, and how it is shown where that differs. */
  readonly value?: unknown;
  readonly valueShown?: unknown;
  /** Longest text. */
  readonly longest?: number;
}

export interface Creation {
  readonly route: string;
  /** What the body must have; of another object each time. */
  readonly least: (ids: Ids) => JsonObject;
  /** Where what was made is shown; absent: in the answer itself. */
  readonly shownAt?: (answer: { readonly id: string }) => string;
  readonly fields: Readonly<Record<string, Field>>;
}

export interface Ids {
  readonly sequenceId: string;
  readonly poolId: string;
  readonly sessionId: string;
}

const must = (type: Field['type'], more: object = {}): Field => ({
  type,
  required: true,
  shown: 'not shown',
  ...more,
});
const may = (type: Field['type'], shown: Shown, more: object = {}): Field => ({ type, shown, ...more });
const is = (value: unknown): Shown => ({ is: value });

const LATER = '2027-03-04T09:15:30.120Z';
const fresh = (): string => nextId().slice(-12) + nextId().slice(0, 8);
const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };

export const CREATIONS: readonly Creation[] = [
  {
    // 3.1
    route: 'POST /sequences',
    least: () => ({
      ...NAMED,
      id: nextId(),
      name: fresh(),
      version: 1,
      blocks: [{ type: 'step', id: 'a', handler: 'noop' }],
      created_at: LATER,
    }),
    shownAt: ({ id }) => `/sequences/${id}`,
    fields: {
      id: must('uuid'),
      tenant_id: must('str'),
      namespace: must('str', { longest: 255 }),
      name: must('str', { longest: 255 }),
      version: must('int'),
      blocks: must('list'),
      created_at: must('ts', { value: '2027-02-11T07:45:00.000Z' }),
      deprecated: may('bool', is(false), { value: true }),
      status: may('enum', is('production'), { words: ['draft', 'staging', 'production', 'unpublished'] }),
      input_schema: may('json', 'omitted', { value: { type: 'object' } }),
      sla: may('obj', 'omitted', {
        value: { max_runtime: 1000, max_step_runtime: 0.5 },
        valueShown: { max_runtime: 1000, max_step_runtime: 500 },
      }),
      interceptors: may('obj', 'omitted', { value: { before_step: { handler: 'noop', params: { a: 1 } } } }),
      on_failure: may('list', 'omitted', {
        value: [
          {
            type: 'step',
            id: 'a',
            handler: 'noop',
            params: null,
            delay: null,
            retry: null,
            cancellable: true,
          },
        ],
      }),
      on_cancel: may('list', 'omitted', {
        value: [
          {
            type: 'step',
            id: 'a',
            handler: 'noop',
            params: null,
            delay: null,
            retry: null,
            cancellable: true,
          },
        ],
      }),
    },
  },
  {
    // 5.2
    route: 'POST /instances',
    least: ({ sequenceId }) => ({ ...NAMED, sequence_id: sequenceId }),
    shownAt: ({ id }) => `/instances/${id}`,
    fields: {
      sequence_id: must('uuid'),
      tenant_id: must('str'),
      namespace: must('str'),
      priority: may('enum', is('Normal'), { words: ['Low', 'Normal', 'High', 'Critical'] }),
      timezone: may('str', is('UTC'), { value: 'Mars/Olympus' }),
      metadata: may('obj', is({}), { value: { a: 1 } }),
      context: may('obj', 'not shown', { value: { data: { a: 1 } } }),
      dry_run: may('bool', 'not shown', { value: true }),
      dry_run_auto_approve: may('bool', 'not shown', { value: true }),
      next_fire_at: may('ts', 'not shown', { value: LATER }),
      concurrency_key: may('str', 'omitted', { value: 'k' }),
      max_concurrency: may('int', 'omitted', { value: 3 }),
      idempotency_key: may('str', 'null'),
      budget: may('obj', 'omitted', {
        value: {
          max_input_tokens: 0,
          max_output_tokens: 1,
          max_total_tokens: 2,
          max_steps: 3,
          max_cost_microunits: 4,
          max_wall_time_ms: 5,
          max_external_calls: 6,
          max_bytes_transferred: 7,
          max_energy_millijoules: 8,
          max_attention_units: 9,
        },
      }),
      session_id: may('uuid', 'omitted'),
    },
  },
  {
    // 11
    route: 'POST /cron',
    least: ({ sequenceId }) => ({ ...NAMED, sequence_id: sequenceId, cron_expr: '30 6 * * 1-5' }),
    shownAt: ({ id }) => `/cron/${id}`,
    fields: {
      tenant_id: must('str'),
      namespace: must('str'),
      sequence_id: must('uuid'),
      cron_expr: must('str'),
      timezone: may('str', is('UTC'), { value: 'Europe/Lisbon' }),
      metadata: may('obj', is({}), { value: { owner: 'ops' } }),
      enabled: may('bool', is(true), { value: false }),
      overlap_policy: may('enum', is('allow'), { words: ['allow', 'skip', 'buffer_one', 'cancel_previous'] }),
    },
  },
  {
    // 12.1
    route: 'POST /triggers',
    least: () => ({
      tenant_id: TENANT,
      namespace: 'fulfilment',
      slug: fresh(),
      sequence_name: 'parcel-return',
    }),
    fields: {
      slug: must('str', { longest: 255 }),
      sequence_name: must('str'),
      tenant_id: must('str'),
      version: may('int', 'omitted', { value: 1 }),
      secret: may('str', 'omitted', { value: 'a secret', valueShown: '[REDACTED]' }),
      trigger_type: may('enum', is('webhook'), {
        words: ['webhook', 'event', 'nats', 'file_watch', 'activepieces_poll'],
      }),
      config: may('json', 'null', { value: { topic: 'scans' } }),
    },
  },
  {
    // 13
    route: 'POST /events',
    least: () => ({ tenant_id: TENANT, event_name: 'e', producer_event_id: fresh(), correlation_key: 'c' }),
    shownAt: (answer) => `/events/${(answer as unknown as { event_id: string }).event_id}`,
    fields: {
      tenant_id: must('str'),
      event_name: must('str'),
      producer_event_id: must('str'),
      correlation_key: must('str'),
      payload: may('json', 'null', { value: { paid: true } }),
    },
  },
  {
    // 14
    route: 'POST /sessions',
    least: () => ({ tenant_id: TENANT, session_key: fresh() }),
    fields: {
      tenant_id: must('str'),
      session_key: must('str', { longest: 512 }),
      data: may('json', is({}), { value: { lang: 'pt' } }),
      expires_at: may('ts', 'omitted', { value: LATER }),
    },
  },
  {
    // 15
    route: 'POST /pools',
    least: () => ({ tenant_id: TENANT, name: fresh() }),
    fields: {
      tenant_id: must('str'),
      name: must('str'),
      strategy: may('enum', is('round_robin'), { words: ['round_robin', 'weighted', 'random'] }),
    },
  },
  {
    route: 'POST /pools/{id}/resources',
    least: () => ({ resource_key: 'r', name: 'n' }),
    fields: {
      resource_key: must('str', { longest: 255 }),
      name: must('str', { longest: 255 }),
      weight: may('int', is(1), { value: 3 }),
      daily_cap: may('int', is(0), { value: 5 }),
      warmup_start: may('date', 'null', { value: '2027-01-01' }),
      warmup_days: may('int', is(0), { value: 7 }),
      warmup_start_cap: may('int', is(0), { value: 2 }),
    },
  },
  {
    // 17
    route: 'POST /credentials',
    least: () => ({ id: fresh(), name: 'n', value: 'v' }),
    fields: {
      id: must('str', { longest: 255 }),
      name: must('str'),
      value: must('str'),
      kind: may('enum', is('api_key'), { words: ['api_key', 'oauth2', 'basic'] }),
      tenant_id: may('str', is(TENANT), { value: TENANT }),
      expires_at: may('ts', 'omitted', { value: LATER }),
      refresh_url: may('str', 'omitted', { value: 'https://example.com/token' }),
      refresh_token: may('str', 'not shown', { value: 't' }),
      description: may('str', 'omitted', { value: 'd' }),
    },
  },
  {
    // 18
    route: 'POST /plugins',
    least: () => ({ name: fresh(), plugin_type: 'wasm', source: 's' }),
    fields: {
      name: must('str', { longest: 255 }),
      plugin_type: must('enum', { words: ['wasm', 'grpc'] }),
      source: must('str', { longest: 2048 }),
      config: may('json', 'null', { value: { a: 1 } }),
      description: may('str', 'omitted', { value: 'd' }),
    },
  },
  {
    // 19.5
    route: 'POST /workers/commands',
    least: () => ({ worker_id: 'w', command: 'ping' }),
    fields: {
      worker_id: must('str'),
      command: must('enum', { words: ['drain', 'reload', 'ping', 'place'] }),
      payload: may('json', 'null', { value: { a: 1 } }),
    },
  },
  {
    route: 'POST /workers/version-pins',
    least: () => ({ tenant_id: TENANT, handler_name: fresh(), min_version: '1.2' }),
    fields: { tenant_id: must('str'), handler_name: must('str'), min_version: must('str') },
  },
  {
    // 20
    route: 'POST /routing-rules',
    least: () => ({ tenant_id: TENANT, handler_name: fresh(), queue_override: 'q' }),
    fields: {
      tenant_id: must('str'),
      handler_name: must('str'),
      queue_override: must('str'),
      match_queue: may('str', 'omitted', { value: 'eu' }),
      priority: may('int', is(0), { value: -3 }),
      enabled: may('bool', is(true), { value: false }),
    },
  },
  {
    // 24
    route: 'POST /api-keys',
    least: () => ({ tenant_id: TENANT }),
    fields: {
      tenant_id: must('str'),
      name: may('str', is(''), { value: 'ci' }),
      capabilities: may('list', is(['operator']), { value: ['worker', 'auditor'] }),
      expires_at: may('ts', 'null', { value: '2001-01-01T00:00:00.000Z' }),
    },
  },
];
