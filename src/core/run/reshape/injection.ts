import { type DocumentError, parseSequence } from '../../definition/parse-sequence.ts';
import { documentError } from '../../definition/problems.ts';
import { serialiseBlock, serialiseSequence } from '../../definition/serialise.ts';
import type { Block } from '../../definition/document.ts';
import { type Json, type JsonObject, isJsonArray } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import { type Plan, compilePlan } from '../plan.ts';
import type { Injection, InjectionPlace, NewInjection, PlanShape } from './injected.ts';

/** A root list with blocks injected into it ([OP-10]). */
function injectedInto(root: readonly Block[], injection: Injection): readonly Block[] {
  return root.toSpliced(indexOf(root, injection), 0, ...injection.blocks);
}

function indexOf(root: readonly Block[], { position, before, after }: InjectionPlace): number {
  if (position === null) return root.length;
  const next = root.findIndex((block) => block.id === before);
  if (next !== -1) return next;
  const previous = root.findIndex((block) => block.id === after);
  return previous === -1 ? Math.min(position, root.length) : previous + 1;
}

function placeAt(root: readonly Block[], position: number | null): InjectionPlace {
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

/**
 * Checks blocks that are to be injected, by themselves and together with what is there ([OP-9], the rules of a publish).
 * `position` null: at the end.
 */
export function checkInjection(
  plan: Plan,
  blocks: Json,
  position: number | null,
): Result<Injection, DocumentError> {
  if (!isJsonArray(blocks) || blocks.length === 0) {
    const message = 'blocks must be an array of at least one block';
    return err(documentError(400, [{ path: 'blocks', message }]));
  }
  const alone = parseSequence({ ...headOf(plan), blocks });
  if (!alone.ok) return alone;
  const injection: Injection = {
    ...placeAt(plan.document.blocks, position),
    blocks: alone.value.document.blocks,
  };
  const together = [...injectedInto(plan.document.blocks, injection)];
  const all = parseSequence(serialiseSequence({ ...plan.document, blocks: together }));
  return all.ok ? ok(injection) : all;
}

/** The document without its blocks: what is needed to check others by themselves. */
function headOf({ document }: Plan): JsonObject {
  const { id, tenant_id, namespace, name, version, created_at } = document;
  return { id, tenant_id, namespace, name, version, created_at };
}

/** An injection as it was stored; it passed all checks when it was accepted. */
export function readInjection(
  plan: Plan,
  stored: InjectionPlace & { readonly blocks: readonly JsonObject[] },
): Injection {
  const { position, before, after } = stored;
  const parsed = parseSequence({ ...headOf(plan), blocks: stored.blocks });
  if (!parsed.ok) throw new Error(`injected blocks cannot be read: ${parsed.error.message}`);
  return { position, before, after, blocks: parsed.value.document.blocks };
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
