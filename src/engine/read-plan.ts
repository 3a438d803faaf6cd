import { parseSequence } from '../core/definition/parse-sequence.ts';
import { compilePlan, type Plan } from '../core/run/plan.ts';
import type { SequenceRecord } from '../ports/store/catalog.ts';

export { validateAgainst } from '../core/definition/json-schema.ts';

/** The plan of a stored version. What was published passes the same checks again; null only for a document of another build. */
export function planOf(record: SequenceRecord): Plan | null {
  const parsed = parseSequence(record.definition);
  return parsed.ok ? compilePlan(parsed.value.document) : null;
}
