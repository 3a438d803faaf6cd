import type { JsonObject } from '../../../src/core/json.ts';
import type { Field, Shown } from './fields.ts';

const must = (type: Field['type'], more: object = {}): Field => ({
  type,
  required: true,
  shown: 'not shown',
  ...more,
});
const may = (type: Field['type'], shown: Shown, more: object = {}): Field => ({ type, shown, ...more });
const is = (value: unknown): Shown => ({ is: value });

/** A step as it is shown when nothing but its handler was sent (http-api.md 3.2). */
const shownStep = (id: string): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  params: null,
  delay: null,
  retry: null,
  cancellable: true,
});
const inner = (id = 'in'): readonly JsonObject[] => [{ type: 'step', id, handler: 'noop' }];
const innerShown = (id = 'in'): readonly JsonObject[] => [shownStep(id)];
/** Blocks as they are sent and shown. */
const list = (more: object = {}): object => ({ value: inner(), valueShown: innerShown(), ...more });

export interface BlockRow {
  readonly type: string;
  /** What the block must have besides type and id. */
  readonly least: JsonObject;
  readonly fields: Readonly<Record<string, Field>>;
}

const RETRY = { max_attempts: 4, initial_backoff: 400, max_backoff: 6400, backoff_multiplier: 2 };

/** The tables of http-api.md 3.2. */
export const BLOCKS: readonly BlockRow[] = [
  {
    type: 'step',
    least: { handler: 'noop' },
    fields: {
      handler: must('str'),
      params: may('json', 'null', { value: { no: '{{ data.parcel }}' } }),
      delay: may('obj', 'null', { value: { duration: 0.2 }, valueShown: { duration: 200 } }),
      retry: may('obj', 'null', { value: RETRY }),
      cancellable: may('bool', is(true), { value: false }),
      timeout: may('num', 'omitted', { value: 0.2, valueShown: 200 }),
      deadline: may('num', 'omitted', { value: 20_000 }),
      on_deadline_breach: may('obj', 'omitted', { value: { handler: 'noop', params: { a: 1 } } }),
      rate_limit_key: may('str', 'omitted', { value: 'k' }),
      send_window: may('obj', 'omitted', { value: { start_hour: 8, end_hour: 20, days: [0, 6] } }),
      context_access: may('obj', 'omitted', {
        value: { data: { fields: ['a'] }, config: false, audit: true, runtime: true },
      }),
      wait_for_input: may('obj', 'omitted', { value: { prompt: 'Refund?', timeout: 3_600_000 } }),
      queue_name: may('str', 'omitted', { value: 'eu' }),
      fallback_handler: may('str', 'omitted', { value: 'noop' }),
      cache_key: may('str', 'omitted', { value: '{{ data.a }}' }),
      output_schema: may('json', 'omitted', { value: { type: 'object' } }),
      when: may('str', 'omitted', { value: 'data.a == 1' }),
      compensation: may('obj', 'omitted', {
        value: { handler: 'noop', params: { a: 1 }, verification: 'manual' },
      }),
    },
  },
  {
    type: 'parallel',
    least: { branches: [inner()] },
    fields: { branches: must('list', { value: [inner()], valueShown: [innerShown()] }) },
  },
  {
    type: 'race',
    least: { branches: [inner()] },
    fields: {
      branches: must('list', { value: [inner()], valueShown: [innerShown()] }),
      semantics: may('enum', is('first_to_resolve'), { words: ['first_to_resolve', 'first_to_succeed'] }),
    },
  },
  {
    type: 'router',
    least: { routes: [{ condition: 'true', blocks: inner() }] },
    fields: {
      routes: must('list', {
        value: [{ condition: 'true', blocks: inner() }],
        valueShown: [{ condition: 'true', blocks: innerShown() }],
      }),
      default: may('list', 'null', list({ value: inner('other'), valueShown: innerShown('other') })),
    },
  },
  {
    type: 'try_catch',
    least: { try_block: inner(), catch_block: inner('caught') },
    fields: {
      try_block: must('list', list()),
      catch_block: must('list', { value: inner('caught'), valueShown: innerShown('caught') }),
      finally_block: may('list', 'null', { value: inner('last'), valueShown: innerShown('last') }),
    },
  },
  {
    type: 'loop',
    least: { condition: 'true', body: inner() },
    fields: {
      condition: must('str'),
      body: must('list', list()),
      max_iterations: may('int', is(1000), { value: 5 }),
      break_on: may('str', 'omitted', { value: 'false' }),
      continue_on_error: may('bool', is(false), { value: true }),
      poll_interval: may('int', 'omitted', { value: 5 }),
      retain_iterations: may('int', 'omitted', { value: 5 }),
    },
  },
  {
    type: 'for_each',
    least: { collection: 'data.items', body: inner() },
    fields: {
      collection: must('str'),
      body: must('list', list()),
      item_var: may('str', is('item'), { value: 'parcel' }),
      max_iterations: may('int', is(1000), { value: 5 }),
      retain_iterations: may('int', 'omitted', { value: 5 }),
    },
  },
  {
    type: 'sub_sequence',
    least: { sequence_name: 'other' },
    fields: {
      sequence_name: must('str'),
      version: may('int', 'omitted', { value: 3 }),
      input: may('json', 'not shown', { value: { a: 1 } }),
    },
  },
  {
    type: 'a_b_split',
    least: {
      variants: [
        { name: 'a', weight: 1, blocks: inner('x') },
        { name: 'b', weight: 0, blocks: inner('y') },
      ],
    },
    fields: {
      variants: must('list', {
        value: [
          { name: 'a', weight: 1, blocks: inner('x') },
          { name: 'b', weight: 0, blocks: inner('y') },
        ],
        valueShown: [
          { name: 'a', weight: 1, blocks: innerShown('x') },
          { name: 'b', weight: 0, blocks: innerShown('y') },
        ],
      }),
    },
  },
  {
    type: 'cancellation_scope',
    least: { blocks: inner() },
    fields: { blocks: must('list', list()) },
  },
  {
    type: 'saga',
    least: { steps: [{ id: 'one', action: inner()[0] ?? {} }] },
    fields: {
      steps: must('list', {
        value: [{ id: 'one', action: inner()[0], compensation: inner('undo')[0] }],
        valueShown: [{ id: 'one', action: shownStep('in'), compensation: shownStep('undo') }],
      }),
    },
  },
];

/** What may stand in a member of a step, and what may not: [path, value, status]. */
export const STEP_PARTS: readonly (readonly [name: string, step: JsonObject, status: 201 | 400 | 422])[] = [
  ['a delay of nothing', { delay: { duration: 0 } }, 201],
  [
    'a delay in business days',
    {
      delay: { duration: 1, business_days_only: true, jitter: 5, holidays: ['2027-04-25'], timezone: 'UTC' },
    },
    201,
  ],
  [
    'a delay to a local time',
    { delay: { duration: 0, fire_at_local: '2027-04-25T09:00:00', timezone: 'Europe/Lisbon' } },
    201,
  ],
  ['a holiday that is none', { delay: { duration: 1, holidays: ['25 April'] } }, 400],
  ['an infinite delay', { delay: { duration: 'forever' } }, 422],
  ['a retry without attempts', { retry: { initial_backoff: 1, max_backoff: 1 } }, 422],
  ['a retry without longest back-off', { retry: { max_attempts: 1, initial_backoff: 1 } }, 422],
  ['a retry that multiplies by nothing', { retry: { ...RETRY, backoff_multiplier: 0 } }, 400],
  ['a retry with codes', { retry: { ...RETRY, retry_if: 'true', non_retryable_codes: ['501'] } }, 201],
  ['a window of all days', { send_window: {} }, 201],
  ['a window that begins at hour 24', { send_window: { start_hour: 24 } }, 400],
  ['a window of an eighth day', { send_window: { days: [7] } }, 400],
  ['access to all data', { context_access: { data: 'all' } }, 201],
  ['access to no data', { context_access: { data: 'none' } }, 201],
  ['access to some data', { context_access: { data: false } }, 201],
  ['access to data of no kind', { context_access: { data: 'some' } }, 422],
  ['an empty gate', { wait_for_input: {} }, 201],
  ['a gate that stores under nothing', { wait_for_input: { store_as: '' } }, 400],
  ['a choice without value', { wait_for_input: { choices: [{ label: 'A' }] } }, 422],
  ['an empty handler', { handler: '' }, 400],
  [
    'a compensation of unknown verification',
    { compensation: { handler: 'noop', verification: 'hope' } },
    422,
  ],
  [
    'a compensation that waits for more than 256',
    { compensation: { handler: 'noop', depends_on: Array.from({ length: 257 }, (_, index) => `s${index}`) } },
    400,
  ],
  [
    'a compensation that waits twice for one',
    { compensation: { handler: 'noop', depends_on: ['b', 'b'] } },
    400,
  ],
  [
    'a compensation that waits for another step',
    { compensation: { handler: 'noop', depends_on: ['b'], verification: 'handler_result' } },
    201,
  ],
  ['a schema of outputs that is none', { output_schema: { type: 'nonsense' } }, 400],
  ['a negative timeout', { timeout: -1 }, 422],
];
