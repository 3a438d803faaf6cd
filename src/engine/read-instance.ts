import { type Json, isJsonObject, jsonObject } from '../core/json.ts';
import { isConcurrent } from '../core/run/blocks/items.ts';
import type { Frame } from '../core/run/frame.ts';
import { type Plan, isInside } from '../core/run/plan.ts';
import { isTerminal } from '../core/run/states.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import type { UseCaseDeps } from './use-case.ts';

/**
 * One instance as it is shown: while a `for_each` works on an item, `data` shows that item under its key ([ITEM-3]). null:
 * there is no such instance in this tenant.
 */
export async function readInstance(
  deps: UseCaseDeps,
  tenantId: string | null,
  instanceId: string,
): Promise<InstanceView | null> {
  const view = await deps.store.getInstance(tenantId, instanceId);
  if (view === null || isTerminal(view.state)) return view;
  const plan = await deps.definitions.planOf(view);
  if (plan === null || !plan.inOrder.some(({ block }) => block.type === 'for_each')) return view;
  const frontier = await deps.store.getFrontier(tenantId, instanceId);
  if (frontier === null) return null;
  const { instance, frames } = frontier;
  return { ...instance, data: withItems(plan, instance.data, frames) };
}

interface Bound {
  readonly blockId: string;
  readonly key: string;
  readonly item: Json;
}

function withItems(plan: Plan, data: Json, frames: readonly Frame[]): Json {
  const bound = frames.flatMap((frame) => itemOf(plan, frame));
  // An inner block hides the item of an outer one; of two that stand side by side neither is shown.
  const visible = bound.filter((one) =>
    bound.every(
      (other) => other === one || other.key !== one.key || isInside(plan, one.blockId, other.blockId),
    ),
  );
  if (visible.length === 0 || !isJsonObject(data)) return data;
  return jsonObject([
    ...Object.entries(data),
    ...visible.map(({ key, item }): [string, Json] => [key, item]),
  ]);
}

/** The item of an open pass; items that run side by side are bound per pass and not shown (RULINGS B25). */
function itemOf(plan: Plan, { blockId, state, detail }: Frame): readonly Bound[] {
  const block = plan.nodes.get(blockId)?.block;
  if (state !== 'open' || block?.type !== 'for_each' || isConcurrent(block)) return [];
  const item =
    detail.kind === 'item' || (detail.kind === 'for_each' && detail.inPass) ? detail.item : undefined;
  return item === undefined ? [] : [{ blockId, key: block.item_var, item }];
}
