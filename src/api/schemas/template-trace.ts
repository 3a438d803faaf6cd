import * as z from 'zod';
import type { Json } from '../../core/json.ts';
import type { Sample } from '../../core/template-trace/sample-run.ts';
import { resultType, type TemplateTrace, type TraceEntry } from '../../core/template-trace/trace-entry.ts';
import { FilterParameter, JsonObjectValue, JsonValue, optional, SequenceInput, Uuid } from './wire-values.ts';

/** What templates are resolved with; what is absent is empty. */
const sample = {
  context_data: JsonValue.optional(),
  context_config: optional(JsonObjectValue),
  outputs: optional(JsonObjectValue),
};

export const TemplateInput = z.object({ template: z.string(), ...sample });
export const InspectInput = z.object({
  sequence: SequenceInput.optional(),
  sequence_id: optional(Uuid),
  block_id: z.string(),
  ...sample,
});
export const ResolvedInputQuery = z.object({ at_block: FilterParameter });

const ResultType = z.enum(['null', 'boolean', 'number', 'string', 'array', 'object']);

const TraceEntryBody = z.object({
  param_path: z.string(),
  expression: z.string(),
  status: z.enum(['ok', 'null', 'missing', 'redacted', 'error']),
  value: JsonValue.exactOptional(),
  result_type: ResultType.exactOptional(),
  source: z.string().exactOptional(),
  fallback_used: z.boolean(),
  coerced_to_string: z.boolean(),
  error: z.string().exactOptional(),
});

export const TemplateResult = z.object({
  result: JsonValue.exactOptional(),
  result_type: ResultType.exactOptional(),
  entries: z.array(TraceEntryBody),
  error: z.string().exactOptional(),
});

export const BlockTrace = z.object({
  block_id: z.string(),
  resolved_params: JsonValue.exactOptional(),
  entries: z.array(TraceEntryBody),
  /** Why the params do not resolve; then there are none. */
  error: z.string().exactOptional(),
});

/** The made-up context of a body. An absent `context_data` and one that is null are both empty. */
export function sampleOf(body: {
  readonly context_data?: Json | undefined;
  readonly context_config: Sample['config'] | null;
  readonly outputs: Sample['outputs'] | null;
}): Sample {
  return { data: body.context_data ?? {}, config: body.context_config ?? {}, outputs: body.outputs ?? {} };
}

export function showTemplateResult({
  resolved,
  error,
  entries,
}: TemplateTrace): z.infer<typeof TemplateResult> {
  return {
    ...(resolved === undefined ? {} : { result: resolved, result_type: resultType(resolved) }),
    entries: entries.map(showEntry),
    ...(error === undefined ? {} : { error }),
  };
}

export function showBlockTrace(
  blockId: string,
  { resolved, error, entries }: TemplateTrace,
): z.infer<typeof BlockTrace> {
  return {
    block_id: blockId,
    ...(resolved === undefined ? {} : { resolved_params: resolved }),
    entries: entries.map(showEntry),
    ...(error === undefined ? {} : { error }),
  };
}

function showEntry(entry: TraceEntry): z.infer<typeof TraceEntryBody> {
  const { value, source, error } = entry;
  return {
    param_path: entry.paramPath,
    expression: entry.expression,
    status: entry.status,
    ...(value === undefined ? {} : { value, result_type: resultType(value) }),
    ...(source === undefined ? {} : { source }),
    fallback_used: entry.fallbackUsed,
    coerced_to_string: entry.coercedToString,
    ...(error === undefined ? {} : { error }),
  };
}
