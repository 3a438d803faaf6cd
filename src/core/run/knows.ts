import type { Block } from '../definition/document.ts';
import type { Draft } from './draft.ts';

/** True when all outputs and state that the block's texts may read are known; otherwise they are noted as needs. */
export function knows(draft: Draft, block: Block): boolean {
  const references = draft.plan.references.get(block.id);
  return references === undefined || draft.knowledge.covers(references);
}
