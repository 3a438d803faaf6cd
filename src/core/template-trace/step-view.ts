import type { Block, StepBlock } from '../definition/document.ts';
import type { Scope } from '../expressions/scope.ts';
import { type Json, member } from '../json.ts';
import { redact } from '../redaction.ts';
import type { Draft } from '../run/draft.ts';
import type { Leaf } from '../run/frame.ts';
import { hookScope } from '../run/hooks/hook-scope.ts';
import { viewScopeOf } from '../run/leaf/context-view.ts';
import { handlerOf } from '../run/limits/breaker-outcome.ts';
import { withResource } from '../run/limits/resource.ts';
import { type Place, placeOf, ROOT_PLACE, scopeAt } from '../run/place.ts';
import { currentList } from '../run/plan.ts';
import type { TemplateTrace } from './trace-entry.ts';
import { traceParams } from './trace-value.ts';

/** Where a run stands with a block: the list it is in, and the block itself when the list has come to it. */
export interface StepView {
  readonly place: Place;
  readonly leaf: Leaf | null;
}

/**
 * Finds the list that holds a block: the one that stands at it, else the last open one with it, else the root list. The
 * draft has its root frame.
 */
export function viewOfStep(draft: Draft, block: Block): StepView {
  let holder: string | null = null;
  for (const [key, frame] of draft.frames) {
    const list = currentList(draft.plan, frame);
    if (list[frame.cursor]?.id === block.id) return { place: placeOf(draft, key), leaf: frame.leaf };
    if (list.some(({ id }) => id === block.id)) holder = key;
  }
  return { place: holder === null ? ROOT_PLACE : placeOf(draft, holder), leaf: null };
}

/**
 * What the params of a step resolve to now, as the turn would resolve them there: with its bindings, `context_access`,
 * and an input that somebody has put in their place. `outputs`, when given, are the only ones that count.
 */
export function traceStep(
  draft: Draft,
  block: StepBlock,
  { place, leaf }: StepView,
  outputs: ReadonlySet<string> | 'all',
): TemplateTrace {
  if (leaf?.input !== undefined) return { resolved: redact(leaf.input), entries: [] };
  const hooks = draft.plan.nodes.has(block.id) ? null : (draft.record.hooks ?? null);
  const here = hooks === null ? scopeAt(draft, place) : hookScope(draft, hooks);
  const full = { ...here, items: allBindings(draft, block, here), outputs: only(here.outputs, outputs) };
  const view = viewScopeOf(draft, full, block, leaf?.attempt ?? 0);
  return leaf === null
    ? traceParams(block.handler, block.params ?? {}, view)
    : traceParams(handlerOf(block, leaf), block.params ?? {}, withResource(view, leaf));
}

function only(outputs: ReadonlyMap<string, Json>, wanted: ReadonlySet<string> | 'all') {
  if (wanted === 'all') return outputs;
  return new Map([...outputs].filter(([id]) => wanted.has(id)));
}

/**
 * The names of the `for_each` blocks around a step are bound also while it does not run: to what `data` says under them,
 * else to null, so that its templates still say what they read.
 */
function allBindings(draft: Draft, block: Block, { items, data }: Scope): ReadonlyMap<string, Json> {
  const bound = new Map(items);
  let id = draft.plan.nodes.get(block.id)?.parentId ?? null;
  while (id !== null) {
    const node = draft.plan.nodes.get(id);
    if (node?.block.type === 'for_each' && !bound.has(node.block.item_var)) {
      bound.set(node.block.item_var, member(data, node.block.item_var) ?? null);
    }
    id = node?.parentId ?? null;
  }
  return bound;
}
