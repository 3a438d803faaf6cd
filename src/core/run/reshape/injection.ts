import { serialiseBlock } from '../../definition/serialise.ts';
import type { Block } from '../../definition/document.ts';
import { type Plan, compilePlan } from '../plan.ts';
import type { Injection, InjectionPlace, NewInjection, PlanShape } from './injected.ts';

/** A root list with blocks injected into it ([OP-10]). */
export function injectedInto(root: readonly Block[], injection: Injection): readonly Block[] {
  return root.toSpliced(indexOf(root, injection), 0, ...injection.blocks);
}

function indexOf(root: readonly Block[], { position, before, after }: InjectionPlace): number {
  if (position === null) return root.length;
  const next = root.findIndex((block) => block.id === before);
  if (next !== -1) return next;
  const previous = root.findIndex((block) => block.id === after);
  return previous === -1 ? Math.min(position, root.length) : previous + 1;
}

/** The place of what is to come at an index of a root list; null: at its end. */
export function placeAt(root: readonly Block[], position: number | null): InjectionPlace {
  if (position === null || position >= root.length) return { position: null, before: null, after: null };
  return { position, before: root[position]?.id ?? null, after: root[position - 1]?.id ?? null };
}

/** The plan of a sequence with all injections applied in the order in which they were made. */
export function effectivePlan(base: Plan, shape: PlanShape): Plan {
  return { ...withInjected(base, shape.injections), shape };
}

/** The plan of a run with further injections. */
export function planWith(plan: Plan, more: readonly Injection[]): Plan {
  const { injections, wasMigrated } = plan.shape ?? { injections: [], wasMigrated: false };
  return { ...withInjected(plan, more), shape: { injections: [...injections, ...more], wasMigrated } };
}

function withInjected(plan: Plan, injections: readonly Injection[]): Plan {
  if (injections.length === 0) return plan;
  const blocks = injections.reduce(injectedInto, plan.document.blocks);
  return compilePlan({ ...plan.document, blocks: [...blocks] });
}

export function storedInjection(id: string, { blocks, ...place }: Injection): NewInjection {
  return { id, ...place, blocks: blocks.map(serialiseBlock) };
}

/** Injections without the root blocks that a migration has replaced by blocks of its target. */
export function carriedOver(
  injections: readonly Injection[],
  replaced: readonly string[],
): readonly Injection[] {
  const gone = new Set(replaced);
  return injections
    .map((injection) => ({ ...injection, blocks: injection.blocks.filter((block) => !gone.has(block.id)) }))
    .filter((injection) => injection.blocks.length > 0);
}
