import * as z from 'zod';
import type { Json } from '../json.ts';
import { durationMs, isInstant } from './times.ts';

/** A wire duration, normalised to integer milliseconds. Negative and non-finite values have the wrong shape ([DUR-2]). */
export const Duration = z.number().min(0, { error: 'a duration must not be negative' }).transform(durationMs);

/** Any JSON value, kept as sent: params, inputs and JSON Schemas belong to the user. */
export const JsonValue = z.custom<Json>();

/** A whole number that fits the 32 bits of the wire contract. Other numbers have the wrong shape. */
export const Int32 = z.int32();

/** A whole number; its range is a matter of the semantic checks. */
export const WholeNumber = z.int();

/** A UUID of any version, normalised to lower case ([VAL-4]). */
export const Uuid = z.guid({ error: 'expected a UUID' }).toLowerCase();

/** An instant as the author wrote it; it is checked, and returned as given. */
export const Instant = z.string().refine(isInstant, { error: 'expected an RFC 3339 instant' });
