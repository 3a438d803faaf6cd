import type { StepBlock } from '../../definition/document.ts';
import { resolveTemplateText } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import { canonicalJson } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { viewScope } from '../leaf/context-view.ts';
import { failLeaf } from '../leaf/end-leaf.ts';
import { type Place, frameAt, placeOf } from '../place.ts';
import { heldLeaf } from './held-leaf.ts';
import type { BreakerAsk, Denial, Takes } from './takes.ts';
import { isTracked } from './tracked-handlers.ts';

export type Demand =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'takes'; readonly takes: Takes }
  | { readonly kind: 'broken'; readonly message: string };

/**
 * What the attempt still has to be given (8.1: 6 and 10). A step that names no limit and whose breaker is closed asks for
 * nothing; neither does what was given already, before a crash or while its turn ran out. Dry runs take nothing, except
 * tokens when they run in real time ([DRY-3]).
 */
export function demandOf(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Demand {
  const { dryRun } = draft.record;
  if (dryRun && !draft.record.dryRunRealTime) return NOTHING;
  const rate = rateKey(draft, place, block, leaf);
  if (rate.kind === 'broken') return rate;
  const breaker = dryRun ? undefined : breakerAsk(draft, block, leaf);
  const pool = dryRun || leaf.taken?.resource !== undefined ? undefined : block.pool;
  if (rate.key === null && breaker === undefined && pool === undefined) return NOTHING;
  const takes: Takes = {
    ...(rate.key === null ? {} : { rate: rate.key }),
    ...(breaker === undefined ? {} : { breaker }),
    ...(pool === undefined ? {} : { pool: { name: pool, dice: draft.env.random() } }),
  };
  return { kind: 'takes', takes };
}

const NOTHING: Demand = { kind: 'nothing' };

/** [RATE-4]: null and the empty text do not limit. */
function rateKey(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
):
  | { readonly kind: 'known'; readonly key: string | null }
  | { readonly kind: 'broken'; readonly message: string } {
  if (block.rate_limit_key === undefined || leaf.taken?.rate === true) return { kind: 'known', key: null };
  const resolved = resolveTemplateText(block.rate_limit_key, viewScope(draft, place, block, leaf.attempt));
  if (!resolved.ok) return { kind: 'broken', message: resolved.error.message };
  const { value } = resolved;
  if (value === null || value === '') return { kind: 'known', key: null };
  return { kind: 'known', key: typeof value === 'string' ? value : canonicalJson(value) };
}

/** A probe that was cut off by a crash asks again once its time is over: another may be out ([CB-6]). */
function breakerAsk(draft: Draft, block: StepBlock, leaf: Leaf): BreakerAsk | undefined {
  const { handler, fallback_handler: fallback } = block;
  const { taken } = leaf;
  const isLate = taken?.probeUntil !== undefined && taken.probeUntil <= draft.env.now;
  if (taken?.handler !== undefined && !isLate) return undefined;
  if (!isTracked(handler) || !(isLate || draft.env.openBreakers?.has(handler) === true)) return undefined;
  if (fallback === undefined) return { handler };
  return { handler, fallback: { handler: fallback, tracked: isTracked(fallback) } };
}

/** Holds the leaf until the next commit has taken what it asks for; then the walk goes on with it. Nothing is called yet. */
export function askFirst(draft: Draft, place: Place, leaf: Leaf, takes: Takes): void {
  draft.intend(
    frameAt(draft, place),
    {
      ...leaf,
      state: 'waiting',
      reason: takes.rate === undefined ? (takes.pool === undefined ? 'breaker' : 'pool') : 'rate_limit',
      wakeAt: draft.env.now,
      ...takenWith(leaf, takes),
    },
    { before: leaf, takes },
  );
}

/** The part of what is taken that is known before the store has answered. */
export function takenWith(leaf: Leaf, takes: Takes): Pick<Leaf, 'taken'> {
  return { taken: { ...leaf.taken, ...(takes.rate === undefined ? {} : { rate: true as const }) } };
}

/**
 * The leaves that limits denied in the last commit wait now, as it has stored them, and no attempt is consumed ([RATE-3],
 * [CB-5]).
 */
export function settleDenied(draft: Draft): void {
  for (const { key, asking, answer } of draft.intents.denied) {
    const frame = draft.frames.get(key);
    if (frame === undefined) continue;
    const held = heldLeaf(asking.before, asking.takes, answer);
    if (held === null) {
      failLeaf(draft, placeOf(draft, key), asking.before, poolFailure(answer.reason, asking.takes));
    } else draft.frames.set(key, { ...frame, leaf: held });
  }
}

/** The leaf as it is when the wait for a limit is over. */
export function withoutLimit(leaf: Leaf): Leaf {
  const { limit: _, ...rest } = leaf;
  return rest;
}

/** RULINGS B24: without a resource that could ever be given there is nothing to wait for. */
function poolFailure(denial: Denial, { pool }: Takes): Failure {
  const name = pool?.name ?? '';
  return denial === 'pool_empty'
    ? { message: `the pool ${name} has no enabled resource`, retryable: false, code: 'POOL_EMPTY' }
    : { message: `there is no pool ${name}`, retryable: false, code: 'POOL_NOT_FOUND' };
}
