import * as z from 'zod';
import { isJsonObject, member } from '../../core/json.ts';
import type { ContextSections } from '../../core/run/record.ts';
import {
  InstanceStateName,
  JsonObjectValue,
  JsonValue,
  optional,
  TimestampInput,
  Uuid,
} from './wire-values.ts';

/** Body of `PATCH /instances/{id}/state` (http-api.md 6.1). */
export const StatePatchBody = z.object({ state: InstanceStateName, next_fire_at: optional(TimestampInput) });

/**
 * The name of a signal as the engine keeps it. On the wire it is one of four words, `custom:<name>`, or
 * `{"custom": "<name>"}`; any other text is a typing error and never becomes a custom signal ([SIG-1]).
 */
export const SignalType = JsonValue.transform((wire, context) => {
  if (isJsonObject(wire)) {
    const name = member(wire, 'custom');
    if (typeof name === 'string') return `custom:${name}`;
  }
  if (typeof wire === 'string') {
    const isKnown = wire === 'pause' || wire === 'resume' || wire === 'cancel' || wire === 'update_context';
    if (isKnown || wire.startsWith('custom:')) return wire;
  }
  context.addIssue({
    code: 'custom',
    message: 'expected pause, resume, cancel, update_context or {"custom": "<name>"}',
  });
  return z.NEVER;
});

/**
 * Body of `POST /instances/{id}/signals`. `signal_id` and `delivery_id` both make a repeat known (RULINGS A36); the latter is
 * whatever the sender calls its delivery.
 */
export const SignalBody = z.object({
  signal_type: SignalType,
  payload: JsonValue.nullish().transform((payload) => payload ?? null),
  signal_id: optional(Uuid),
  delivery_id: optional(z.string().min(1).max(255)),
});

export const SignalSent = z.object({ signal_id: Uuid });

/** Body of `PATCH /instances/{id}/context`; a section that is absent or null stays as it is ([CTX-3]). */
export const ContextPatchBody = z.object({
  context: z
    .object({
      data: JsonValue.exactOptional(),
      config: optional(JsonObjectValue),
      audit: optional(z.array(JsonValue)),
    })
    .transform(
      ({ data, config, audit }): ContextSections => ({
        ...(data === undefined ? {} : { data }),
        ...(config === null ? {} : { config }),
        ...(audit === null ? {} : { audit }),
      }),
    ),
});

export const ContextPatchQuery = z.object({ mode: z.enum(['replace', 'merge']).default('replace') });

export const Retried = z.object({ id: Uuid, state: z.literal('scheduled') });
