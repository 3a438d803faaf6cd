import type { Block } from '../definition/document.ts';
import type { Draft } from './draft.ts';
import { coversAt } from './item-scopes.ts';
import type { Place } from './place.ts';

/** True when all that the block's texts may read at its place is known; what is missing is noted as needs. */
export function knows(draft: Draft, place: Place, block: Block): boolean {
  const references = draft.plan.references.get(block.id);
  return references === undefined || coversAt(draft, place, references);
}
