import type { References } from '../expressions/references.ts';
import type { Json } from '../json.ts';
import type { Draft } from './draft.ts';
import { type Frame, frameKey } from './frame.ts';
import { indexOf } from './item-frames.ts';
import { innerIteration, isInside } from './plan.ts';

/**
 * Items that run side by side do not see each other: inside one, `outputs.B` of a block of the same body is the row of
 * this item and of no other one ([OUT-5] as RULINGS B25 narrows it). Everybody else sees the latest row of all items.
 */
/** Keys of the frames around a place and its own, outermost first. */
interface HasPath {
  readonly path: readonly string[];
}

interface ItemScope {
  readonly forEachId: string;
  /** Path of the item, `each:17`. */
  readonly path: string;
}

/** The items of concurrent blocks that a place lies in, outermost first. */
function itemScopes(draft: Draft, place: HasPath): readonly ItemScope[] {
  if (draft.plan.concurrent.size === 0) return [];
  return place.path.flatMap((key) => {
    const frame = draft.frames.get(key);
    if (frame?.detail.kind !== 'item' || !draft.plan.concurrent.has(frame.blockId)) return [];
    return [{ forEachId: frame.blockId, path: innerIteration(frame) }];
  });
}

/** The outputs that texts at a place see. */
export function outputsAt(draft: Draft, place: HasPath): ReadonlyMap<string, Json> {
  const scopes = itemScopes(draft, place);
  const { knowledge, plan } = draft;
  if (scopes.length === 0) return knowledge.knownOutputs;
  const outputs = new Map(knowledge.knownOutputs);
  for (const { forEachId, path } of scopes) {
    for (const id of outputs.keys()) if (isInside(plan, id, forEachId)) outputs.delete(id);
    for (const [id, output] of knowledge.fanOut.outputsOf(path)) outputs.set(id, output);
  }
  return outputs;
}

/** True when all that these references may read at a place is known; gaps are noted as needs. */
export function coversAt(draft: Draft, place: HasPath, references: References): boolean {
  const scopes = itemScopes(draft, place);
  const { knowledge, plan } = draft;
  const itemsKnown = knowsItems(draft, place);
  if (scopes.length === 0) return knowledge.covers(references) && itemsKnown;
  const everything = references.outputs === 'all';
  const ids = references.outputs === 'all' ? [...plan.nodes.keys()] : [...references.outputs];
  const perPath = new Map<string, string[]>();
  const outside = new Set<string>();
  for (const id of ids) {
    const scope = scopes.findLast(({ forEachId }) => isInside(plan, id, forEachId));
    if (scope === undefined) outside.add(id);
    else perPath.set(scope.path, [...(perPath.get(scope.path) ?? []), id]);
  }
  let covered = knowledge.covers({ outputs: everything ? 'all' : outside, state: references.state });
  for (const [path, inside] of perPath) covered = knowledge.fanOut.covers(path, inside) && covered;
  return covered && itemsKnown;
}

/** Binds the item of a frame under the name that its block gives it ([ITEM-1]); an inner one hides an outer one. */
export function bindItem(draft: Draft, key: string, items: Map<string, Json>): void {
  const frame = draft.frames.get(key);
  const block = draft.plan.nodes.get(frame?.blockId ?? '')?.block;
  if (frame?.detail.kind !== 'item' || block?.type !== 'for_each') return;
  const snapshotKey = snapshotKeyOf(draft, frame);
  const stored =
    snapshotKey === null ? undefined : draft.knowledge.fanOut.knownItem(snapshotKey, indexOf(frame));
  const item = frame.detail.item ?? stored;
  if (item !== undefined) items.set(block.item_var, item);
}

function snapshotKeyOf(draft: Draft, item: Frame): string | null {
  const owner = draft.frames.get(frameKey({ ...item, branch: null }));
  return owner?.detail.kind === 'fan_out' ? owner.detail.snapshotKey : null;
}

/** The items around a place that their frames do not hold have to be read, since every text may name them. */
function knowsItems(draft: Draft, place: HasPath): boolean {
  let known = true;
  for (const key of place.path) {
    const frame = draft.frames.get(key);
    if (frame?.detail.kind !== 'item' || frame.detail.item !== undefined) continue;
    const snapshotKey = snapshotKeyOf(draft, frame);
    if (snapshotKey === null) continue;
    known = draft.knowledge.fanOut.item(snapshotKey, indexOf(frame)) !== undefined && known;
  }
  return known;
}
