import { checkDataflow, type DataflowReport } from '../core/dataflow/check-dataflow.ts';
import { type GeneratedBindings, generateBindings } from '../core/dataflow/generate-bindings.ts';
import type { SequenceDocument } from '../core/definition/document.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { readDraftDocument, readStoredDocument } from './read-document.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Dataflow {
  readonly report: DataflowReport;
  readonly generated: GeneratedBindings;
}

/**
 * Checks the references of a draft against its schemas and generates types from these (http-api.md 4.2). 422 shape, 403
 * tenant of another caller, 400 a broken rule or a schema that is too large to render.
 */
export function dataflowOfDraft(caller: Caller, body: Json): Result<Dataflow, Refusal> {
  const document = readDraftDocument(caller, body);
  return document.ok ? dataflowOf(document.value) : document;
}

/** The same for a stored version, with the same answer. 404 unknown. */
export async function dataflowOfStored(
  deps: UseCaseDeps,
  caller: Caller,
  sequenceId: string,
): Promise<Result<Dataflow, Refusal>> {
  const document = await readStoredDocument(deps, caller, sequenceId);
  return document.ok ? dataflowOf(document.value) : document;
}

function dataflowOf(document: SequenceDocument): Result<Dataflow, Refusal> {
  const generated = generateBindings(document);
  if (generated.ok) return ok({ report: checkDataflow(document), generated: generated.value });
  return refuse('invalid_argument', `${generated.error} is too large to render`, {
    code: 'schema_too_large',
  });
}
