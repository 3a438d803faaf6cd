import * as z from 'zod';
import { JsonValue, Uuid } from '../../core/definition/scalars.ts';
import { isInstant } from '../../core/definition/times.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { INSTANCE_STATES, PRIORITIES } from '../../core/run/states.ts';

export { JsonValue, Uuid };

/** A JSON object, kept as sent with all its keys. */
export const JsonObjectValue = z
  .custom<JsonObject>((value) => isJsonObject(JsonValue.parse(value)), { error: 'expected an object' })
  .meta({ type: 'object' });

/** A sequence document; its shape is a matter of the use case, which has limits and warnings as well. */
export const SequenceInput = JsonValue.meta({ $ref: '#/components/schemas/Sequence' });

/** An instant as responses show it: UTC with milliseconds. */
export const Timestamp = z.string().meta({ format: 'date-time' });

const YEAR_0_MS = Date.parse('0000-01-01T00:00:00Z');
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

/** An instant of a request in epoch milliseconds; any offset is accepted. */
export const TimestampInput = z
  .string()
  .refine(isInstant, { error: 'expected an RFC 3339 instant' })
  .transform((text) => Date.parse(text))
  .refine((atMs) => atMs >= YEAR_0_MS && atMs < YEAR_10000_MS, {
    error: 'lies outside the years 0 to 9999 of UTC',
  });

/** Absent and null mean the same for optional input (http-api.md 1.6). */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? null);

export const InstanceStateName = z.enum(INSTANCE_STATES);

/** `High`; any letter case is accepted on input ([ENUM-2]). */
export const PriorityName = z.enum(PRIORITIES);
export const PriorityInput = z
  .string()
  .transform((text) => PRIORITIES.findIndex((name) => name.toLowerCase() === text.toLowerCase()))
  .refine((index) => index >= 0, { error: `expected one of ${PRIORITIES.join(', ')}` });

/** A number in a query or path, such as `limit`. */
export const CountParameter = z
  .string()
  .regex(/^\d{1,10}$/, { error: 'expected a whole number that is not negative' })
  .transform(Number)
  .refine((value) => value < 2 ** 31, { error: 'is too large' })
  .meta({ type: 'integer', minimum: 0, pattern: undefined });

export const BooleanParameter = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined });

export const limitParameter = (standard: number, maximum: number) =>
  CountParameter.transform((value) => Math.min(value, maximum))
    .default(standard)
    .meta({ 'x-default': standard, description: `More than ${maximum} counts as ${maximum}` });

/** As `limitParameter`, but what is below the least is raised to it. */
export const rangeParameter = (standard: number, least: number, most: number) =>
  CountParameter.transform((value) => Math.min(Math.max(value, least), most))
    .default(standard)
    .meta({ 'x-default': standard, description: `Cut to ${least} to ${most}` });

export const OffsetParameter = CountParameter.default(0).meta({ 'x-default': 0 });

/** Query of a list of at most 1,000 rows that has no other parameters. */
export const PageQuery = z.object({ limit: limitParameter(1000, 1000), offset: OffsetParameter });

/** A filter that is given but blank counts as absent. */
export const FilterParameter = z
  .string()
  .nullish()
  .transform((text) => {
    const trimmed = text?.trim() ?? '';
    return trimmed === '' ? null : trimmed;
  });

export const UuidFilter = Uuid.nullish().transform((id) => id ?? null);

export const NoParameters = z.object({});
export const IdPath = z.object({ id: Uuid });
export const SlugPath = z.object({ slug: z.string() });

/** Epoch milliseconds as the wire shows them. */
export function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function optionalTimestamp(atMs: number | null): string | null {
  return atMs === null ? null : timestamp(atMs);
}
