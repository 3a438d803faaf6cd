import * as z from 'zod';
import { INSTANCE_STATES, type InstanceState } from '../../core/run/states.ts';
import {
  BooleanParameter,
  FilterParameter,
  limitParameter,
  OffsetParameter,
  TimestampInput,
  UuidFilter,
} from './wire-values.ts';

/** A comma list of states; blank means all. */
const StatesParameter = FilterParameter.transform((text) =>
  text === null ? [] : text.split(',').map((name) => name.trim()),
).pipe(z.array(z.enum(INSTANCE_STATES)));

const UUID_DIGITS = 32;

/** The beginning of an id, with or without its dashes, as the range of ids that begin so. */
const IdPrefix = FilterParameter.transform((text) => text?.toLowerCase().replaceAll('-', '') ?? null)
  .refine((digits) => digits === null || /^[0-9a-f]{1,32}$/.test(digits), {
    error: 'expected the beginning of a UUID',
  })
  .transform((digits) =>
    digits === null
      ? null
      : { from: dashed(digits.padEnd(UUID_DIGITS, '0')), to: dashed(digits.padEnd(UUID_DIGITS, 'f')) },
  );

function dashed(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const instantFilter = FilterParameter.pipe(TimestampInput.nullable());

/** A name is compared as it is, blanks at its ends included; an empty one counts as absent. */
const ExactFilter = z
  .string()
  .nullish()
  .transform((text) => (text === undefined || text === '' ? null : text));

const METADATA = 'metadata.';

const filters = {
  tenant_id: FilterParameter,
  namespace: FilterParameter,
  sequence_id: UuidFilter,
  /** Any version of this name. */
  sequence_name: ExactFilter,
  state: StatesParameter,
  id_prefix: IdPrefix,
  idempotency_key: ExactFilter,
  concurrency_key: ExactFilter,
  /** `true` leaves out what `sub_sequence` blocks have started. */
  root_only: BooleanParameter.default(false),
  /** Later than this instant. */
  created_after: instantFilter,
  /** Earlier than this instant. */
  created_before: instantFilter,
};

type Filters = z.output<z.ZodObject<typeof filters>>;

function readFilters(query: Filters, others: Readonly<Record<string, unknown>>) {
  const metadata = Object.entries(others)
    .filter(([name]) => name.startsWith(METADATA))
    .map(([name, value]) => [name.slice(METADATA.length), String(value)] as const);
  const states: readonly InstanceState[] = query.state;
  return {
    tenantId: query.tenant_id,
    namespace: query.namespace,
    sequenceId: query.sequence_id,
    sequenceName: query.sequence_name,
    states,
    idRange: query.id_prefix,
    idempotencyKey: query.idempotency_key,
    concurrencyKey: query.concurrency_key,
    rootOnly: query.root_only,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    metadata,
  };
}

/** The filter alone. `metadata.<key>=<value>` may occur with any key; all of them must hold. */
export const InstanceFilterQuery = z.looseObject(filters).transform((query) => readFilters(query, query));

const page = {
  order: z.enum(['updated', 'created']).default('updated'),
  offset: OffsetParameter,
  limit: limitParameter(100, 1000),
};

/** Query of the list of instances. With a cursor the offset counts from there. */
export const InstanceQuery = z
  .looseObject({ ...filters, ...page, cursor: FilterParameter })
  .transform(({ order, cursor, offset, limit, ...query }) => ({
    filter: readFilters(query, query),
    order,
    cursor,
    page: { offset, limit },
  }));

/** Query of a list that is a bare array and has no place for the cursor of its next page. */
export const InstanceArrayQuery = z
  .looseObject({ ...filters, ...page })
  .transform(({ order, offset, limit, ...query }) => ({
    ...readFilters(query, query),
    order,
    offset,
    limit,
  }));
