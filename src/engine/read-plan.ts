import { parseSequence } from '../core/definition/parse-sequence.ts';
import { compilePlan, type Plan } from '../core/run/plan.ts';
import type { CatalogStore, SequenceRecord } from '../ports/store/catalog.ts';

/** The plan of a stored version for a read outside the hot path; null when the version is gone. */
export async function readPlan(
  store: Pick<CatalogStore, 'getSequence'>,
  tenantId: string,
  sequenceId: string,
): Promise<Plan | null> {
  const record = await store.getSequence(tenantId, sequenceId);
  return record === null ? null : planOf(record);
}

/** What was published passes the same checks again; null only for a document of another build. */
export function planOf(record: SequenceRecord): Plan | null {
  const parsed = parseSequence(record.definition);
  return parsed.ok ? compilePlan(parsed.value.document) : null;
}
