import type { Block } from '../core/definition/document.ts';
import type { Gate } from '../core/run/frame.ts';
import { currentList, innerIteration, type Plan } from '../core/run/plan.ts';
import type { GateItem, InstanceView, ListGatesQuery } from '../ports/store/reads.ts';
import type { UseCaseDeps } from './use-case.ts';

/** A gate that waits for a person. */
export interface Approval {
  readonly instance: InstanceView;
  readonly sequenceName: string;
  readonly blockId: string;
  /** The pass of the gate, which an answer may name; empty outside loops. */
  readonly iteration: string;
  readonly gate: Gate;
  /** As the author wrote it; null: the answer is stored under the block's id. */
  readonly storeAs: string | null;
}

/** The gates that wait now, newest instance first (http-api.md 10); `total` counts all of them under the filter. */
export async function listApprovals(
  deps: UseCaseDeps,
  query: ListGatesQuery,
): Promise<{ readonly items: readonly Approval[]; readonly total: number }> {
  const { items, total } = await deps.store.listOpenGates(query);
  const approvals: Approval[] = [];
  for (const item of items) {
    approvals.push(...approvalOf(item, await deps.definitions.planOf(item.instance)));
  }
  return { items: approvals, total };
}

function approvalOf({ instance, sequenceName, frame }: GateItem, plan: Plan | null): readonly Approval[] {
  const gate = frame.leaf?.gate ?? null;
  const block: Block | undefined = plan === null ? undefined : currentList(plan, frame)[frame.cursor];
  if (gate === null || block === undefined) return [];
  const storeAs = block.type === 'step' ? (block.wait_for_input?.store_as ?? null) : null;
  return [{ instance, sequenceName, blockId: block.id, iteration: innerIteration(frame), gate, storeAs }];
}
