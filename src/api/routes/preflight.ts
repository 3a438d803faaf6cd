import { MAX_DOCUMENT_JSON_DEPTH } from '../../core/definition/bounds.ts';
import { dataflowOfDraft, dataflowOfStored } from '../../engine/dataflow.ts';
import { preflightDraft, preflightStored } from '../../engine/preflight.ts';
import { defineBodyRoute, defineRoute, okay } from '../route.ts';
import { DataflowBody, showDataflow } from '../schemas/dataflow.ts';
import { PreflightBody, showPreflight } from '../schemas/preflight.ts';
import { IdPath, NoParameters, SequenceInput } from '../schemas/wire-values.ts';

const draft = {
  method: 'POST',
  tag: 'sequences',
  params: NoParameters,
  query: NoParameters,
  body: SequenceInput,
  bodyDepth: MAX_DOCUMENT_JSON_DEPTH,
} as const;
const stored = { method: 'GET', tag: 'sequences', params: IdPath, query: NoParameters } as const;

const checkDraft = defineBodyRoute({
  ...draft,
  path: '/sequences/preflight',
  summary: 'Check whether a draft could run here; nothing is stored',
  responses: { 200: PreflightBody },
  handle: async (deps, { caller, body }) => {
    const preflight = await preflightDraft(deps, caller, body);
    return preflight.ok ? okay(showPreflight(preflight.value)) : preflight;
  },
});

const checkStored = defineRoute({
  ...stored,
  path: '/sequences/{id}/preflight',
  summary: 'Check whether a version could run here',
  responses: { 200: PreflightBody },
  handle: async (deps, { caller, path }) => {
    const preflight = await preflightStored(deps, caller, path.id);
    return preflight.ok ? okay(showPreflight(preflight.value)) : preflight;
  },
});

const dataflowDraft = defineBodyRoute({
  ...draft,
  path: '/sequences/dataflow',
  summary: 'Check the references of a draft against its schemas, and generate types from these',
  responses: { 200: DataflowBody },
  handle: (_deps, { caller, body }) => {
    const dataflow = dataflowOfDraft(caller, body);
    return dataflow.ok ? okay(showDataflow(dataflow.value)) : dataflow;
  },
});

const dataflowStored = defineRoute({
  ...stored,
  path: '/sequences/{id}/dataflow',
  summary: 'Check the references of a version against its schemas, and generate types from these',
  responses: { 200: DataflowBody },
  handle: async (deps, { caller, path }) => {
    const dataflow = await dataflowOfStored(deps, caller, path.id);
    return dataflow.ok ? okay(showDataflow(dataflow.value)) : dataflow;
  },
});

export const preflightRoutes = [checkDraft, checkStored, dataflowDraft, dataflowStored];
