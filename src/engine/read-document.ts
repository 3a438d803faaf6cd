import { parseSequence } from '../core/definition/parse-sequence.ts';
import type { SequenceDocument } from '../core/definition/document.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { refuseDocument } from './refuse-document.ts';
import { notFound, type Refusal } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/**
 * A document that nobody has published yet, checked as a publish would: 422 shape, 403 tenant of another caller, 400
 * rules. Nothing is stored.
 */
export function readDraftDocument(caller: Caller, body: Json): Result<SequenceDocument, Refusal> {
  const parsed = parseSequence(body);
  if (!parsed.ok) return refuseDocument(parsed.error);
  const { document } = parsed.value;
  const tenant = tenantOf(caller, document.tenant_id);
  return tenant.ok ? ok(document) : tenant;
}

/** The document of a stored version. 404 unknown, also when it was written by a build that this one does not understand. */
export async function readStoredDocument(
  { store }: Pick<UseCaseDeps, 'store'>,
  caller: Caller,
  sequenceId: string,
): Promise<Result<SequenceDocument, Refusal>> {
  const record = await store.getSequence(caller.tenantId, sequenceId);
  const parsed = record === null ? null : parseSequence(record.definition);
  return parsed?.ok === true ? ok(parsed.value.document) : notFound('sequence', sequenceId);
}
