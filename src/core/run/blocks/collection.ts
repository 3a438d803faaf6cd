import type { ForEachBlock } from '../../definition/document.ts';
import { newEvaluation, readPath, rootedPath } from '../../expressions/paths.ts';
import { resolveTemplateText } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import { type Json, isJsonArray } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import { type Place, scopeAt } from '../place.ts';

/** [EACH-3]: cuts the collection and stores it aside; an empty one is not stored. */
export function takeSnapshot(
  draft: Draft,
  block: ForEachBlock,
  collection: readonly Json[],
): { readonly items: readonly Json[]; readonly snapshotKey: string | null } {
  const items = collection.slice(0, block.max_iterations);
  if (items.length === 0) return { items, snapshotKey: null };
  const snapshotKey = `items:${draft.env.newId()}`;
  draft.push('values', { key: snapshotKey, value: items });
  draft.knowledge.setItems(snapshotKey, 0, items);
  return { items, snapshotKey };
}

/** [EACH-1], [EACH-2]: what is missing or no array is an empty collection; a template error fails the block. */
export function resolveCollection(
  draft: Draft,
  place: Place,
  block: ForEachBlock,
): Result<readonly Json[], Failure> {
  const scope = scopeAt(draft, place);
  if (block.collection.includes('{{')) {
    const resolved = resolveTemplateText(block.collection, scope);
    if (!resolved.ok) {
      return err({ message: resolved.error.message, retryable: false, code: 'TEMPLATE_ERROR' });
    }
    return ok(isJsonArray(resolved.value) ? resolved.value : []);
  }
  const names = block.collection.trim().split('.');
  const evaluation = newEvaluation(scope);
  const underData = readPath({ root: 'data', segments: names }, evaluation);
  const rooted = rootedPath(names);
  const found = underData ?? (rooted.kind === 'path' ? readPath(rooted.path, evaluation) : undefined);
  return ok(isJsonArray(found) ? found : []);
}
