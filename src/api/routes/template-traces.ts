import * as z from 'zod';
import { MAX_DOCUMENT_JSON_DEPTH } from '../../core/definition/bounds.ts';
import type { Json } from '../../core/json.ts';
import { ok, type Result } from '../../core/result.ts';
import {
  inspectTemplate,
  type InspectRequest,
  resolvedInput,
  traceText,
} from '../../engine/inspect-template.ts';
import { refuse, type Refusal } from '../../engine/refusal.ts';
import { defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  BlockTrace,
  InspectInput,
  ResolvedInputQuery,
  sampleOf,
  showBlockTrace,
  showTemplateResult,
  TemplateInput,
  TemplateResult,
} from '../schemas/template-trace.ts';
import { NoParameters, Uuid } from '../schemas/wire-values.ts';

const debugTemplate = defineBodyRoute({
  method: 'POST',
  path: '/debug/template',
  tag: 'sequences',
  summary: 'Resolve a template with a made-up context, and say where its values come from',
  params: NoParameters,
  query: NoParameters,
  body: TemplateInput,
  responses: { 200: TemplateResult },
  handle: (deps, { body }) => okay(showTemplateResult(traceText(deps, body.template, sampleOf(body)))),
});

const inspect = defineBodyRoute({
  method: 'POST',
  path: '/sequences/inspect-template',
  tag: 'sequences',
  summary: 'Resolve the params of a step of a draft or a version with a made-up context',
  params: NoParameters,
  query: NoParameters,
  body: InspectInput,
  // The document stands one level deeper than in a publish.
  bodyDepth: MAX_DOCUMENT_JSON_DEPTH + 1,
  responses: { 200: BlockTrace },
  handle: async (deps, { caller, body }) => {
    const sequence = sequenceOf(body.sequence ?? null, body.sequence_id);
    if (!sequence.ok) return sequence;
    const request = { sequence: sequence.value, blockId: body.block_id, ...sampleOf(body) };
    const trace = await inspectTemplate(deps, caller, request);
    return trace.ok ? okay(showBlockTrace(body.block_id, trace.value)) : trace;
  },
});

function sequenceOf(draft: Json, id: string | null): Result<InspectRequest['sequence'], Refusal> {
  if (draft !== null && id === null) return ok({ draft });
  if (draft === null && id !== null) return ok({ id });
  return refuse('invalid_argument', 'exactly one of sequence and sequence_id is needed', {
    code: 'invalid_shape',
  });
}

const input = defineRoute({
  method: 'GET',
  path: '/instances/{id}/blocks/{block_id}/resolved-input',
  tag: 'instances',
  summary:
    'What the params of a step resolve to from what the run has now; with at_block only outputs of root blocks before it count',
  params: z.object({ id: Uuid, block_id: z.string() }),
  query: ResolvedInputQuery,
  responses: { 200: BlockTrace },
  handle: async (deps, { caller, path, filter }) => {
    const request = { instanceId: path.id, blockId: path.block_id, atBlock: filter.at_block };
    const trace = await resolvedInput(deps, caller, request);
    return trace.ok ? okay(showBlockTrace(path.block_id, trace.value)) : trace;
  },
});

export const templateTraceRoutes = [debugTemplate, inspect, input];
