import type { StepBlock } from '../../definition/document.ts';
import { resolveTemplateText } from '../../expressions/template.ts';
import { type Json, canonicalJson } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import type { Place } from '../place.ts';
import { viewScope } from './context-view.ts';

/** Results lie in the key/value store of the instance, where no text and no handler sees them (8.9). */
export const CACHE_PREFIX = '__cache__:';

export type CacheLook =
  /** The step has no cache in this attempt. */
  | { readonly kind: 'off' }
  /** It has to be read first; the need is noted. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'hit'; readonly value: Json }
  | { readonly kind: 'miss'; readonly key: string }
  | { readonly kind: 'broken'; readonly message: string };

/** [CACHE-1]: the key is shared by all blocks of the instance; null and the empty text switch the cache off. */
export function lookUp(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): CacheLook {
  if (block.cache_key === undefined) return { kind: 'off' };
  const resolved = resolveTemplateText(block.cache_key, viewScope(draft, place, block, leaf.attempt));
  if (!resolved.ok) return { kind: 'broken', message: resolved.error.message };
  if (resolved.value === null || resolved.value === '') return { kind: 'off' };
  const text = typeof resolved.value === 'string' ? resolved.value : canonicalJson(resolved.value);
  const key = `${CACHE_PREFIX}${text}`;
  if (!draft.knowledge.covers({ outputs: new Set(), state: new Set([key]) })) return { kind: 'unknown' };
  const value = draft.knowledge.stateValue(key)?.value;
  return value === undefined ? { kind: 'miss', key } : { kind: 'hit', value };
}

/** The leaf with the key under which its result is to be kept, or without one. */
export function withCacheKey(leaf: Leaf, key: string | null): Leaf {
  if (key === null && leaf.cacheKey === undefined) return leaf;
  const { cacheKey: _, ...rest } = leaf;
  return key === null ? rest : { ...rest, cacheKey: key };
}

/** [CACHE-3]: a successful result is kept with its row. */
export function keepResult(draft: Draft, leaf: Leaf, output: Json): void {
  if (leaf.cacheKey === undefined) return;
  draft.push('kv', { key: leaf.cacheKey, value: output });
  draft.knowledge.setState(leaf.cacheKey, output);
}
