import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Edit } from '../../core/run/go-back/edit.ts';
import { SignalType } from './actions.ts';
import { InstanceStateName, JsonValue, optional, Uuid } from './wire-values.ts';

/** Signals that wait for the run before it goes on. */
const MAX_SIGNALS = 100;

const QueuedSignals = z
  .array(
    z
      .object({
        signal_type: SignalType,
        payload: JsonValue.nullish().transform((payload) => payload ?? null),
      })
      .transform((signal) => ({ signalType: signal.signal_type, payload: signal.payload })),
  )
  .max(MAX_SIGNALS)
  .nullish()
  .transform((signals) => signals ?? []);

/** Path of the passes of the loops around a block, `outer:2/inner:0`; absent: the last passes that were begun. */
const Iteration = optional(z.string());

/** What both ways of going back take. `input` and `output` are told apart from absent ones, since they may be null. */
const GOING_BACK = {
  context: JsonValue.exactOptional(),
  signals: QueuedSignals,
  iteration: Iteration,
  input: JsonValue.exactOptional(),
  output: JsonValue.exactOptional(),
};

/** Body of `POST /instances/{id}/resume-from/{block_id}` (http-api.md 6.5), which may be empty. */
export const ResumeBody = z.object(GOING_BACK).optional();
export type ResumeBody = z.output<typeof ResumeBody>;

/** Body of `POST /instances/{id}/fork` (http-api.md 6.6). */
export const ForkBody = z.object({
  ...GOING_BACK,
  from_block_id: z.string(),
  dry_run: optional(z.boolean()).transform((value) => value ?? true),
  copy_state: optional(z.boolean()).transform((value) => value ?? false),
});

export const ResumePath = z.object({ id: Uuid, block_id: z.string() });
export const ForkPreviewQuery = z.object({ from_block_id: z.string(), iteration: Iteration });

export const ResumedBody = z.object({
  id: Uuid,
  state: z.literal('scheduled'),
  resumed_from: z.string(),
  /** The passes that were meant; empty outside loops. */
  iteration: z.string(),
  outputs_deleted: z.int(),
  signals_enqueued: z.int(),
});

export const ForkedBody = z.object({
  id: Uuid,
  forked_from: Uuid,
  state: z.literal('scheduled'),
  copied_blocks: z.int(),
  rerun_blocks: z.array(z.string()),
  dry_run: z.boolean(),
});

export const ForkPreviewBody = z.object({
  instance_id: Uuid,
  from_block_id: z.string(),
  copied_blocks: z.array(z.string()),
  re_executed_blocks: z.array(z.string()),
  side_effect_blocks: z.array(z.string()),
  sandbox_default: z.literal(true),
});

export const VerifiedBody = z.object({
  instance_id: Uuid,
  ok: z.boolean(),
  /** In words; empty when the rows and what is stored of the run say the same. */
  differences: z.array(z.string()),
});

export const ComparePath = z.object({ id: Uuid, other: Uuid });
export const ComparedBody = z.object({
  left: Uuid,
  right: Uuid,
  left_state: InstanceStateName,
  right_state: InstanceStateName,
  only_left: z.array(z.string()),
  only_right: z.array(z.string()),
  differing_outputs: z.array(z.string()),
  matching_blocks: z.int(),
});

const SECTIONS: ReadonlySet<string> = new Set(['data', 'config', 'audit', 'runtime']);

/**
 * The keys of a `context` that are merged into data; null when it is no object. It is written as the keys themselves
 * (http-api.md 6.5) or in the shape of a context, `{"data": {…}}` (sequences.md 20.2); the other sections stay.
 */
export function dataPatch(context: Json | undefined): JsonObject | null {
  if (context === undefined || context === null) return {};
  if (!isJsonObject(context)) return null;
  const { data } = context;
  const isContext = Object.hasOwn(context, 'data') && Object.keys(context).every((key) => SECTIONS.has(key));
  return isContext && isJsonObject(data) ? data : context;
}

/** The edit that a body asks for; `both` when it names input and output. */
export function editOf(body: { readonly input?: Json; readonly output?: Json }): Edit | null | 'both' {
  if (body.input !== undefined && body.output !== undefined) return 'both';
  if (body.input !== undefined) return { kind: 'input', value: body.input };
  return body.output === undefined ? null : { kind: 'output', value: body.output };
}
