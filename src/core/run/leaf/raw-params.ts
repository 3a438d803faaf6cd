import type { LanguageError } from '../../expressions/language-error.ts';
import type { Scope } from '../../expressions/scope.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import { type Json, isJsonArray, isJsonObject, jsonObject, mergeObjects } from '../../json.ts';
import { type Result, ok } from '../../result.ts';

/**
 * Params with their templates resolved. In the blocks of `self_modify` an object `{"$raw": value}` stands for the value as
 * it is, so that its templates are left for the injected step (handlers.md 8.1).
 */
export function resolveParams(handler: string, params: Json, scope: Scope): Result<Json, LanguageError> {
  const resolved = resolveTemplates(templatedParams(handler, params), scope);
  const blocks = blocksOf(handler, params);
  if (blocks === undefined || !resolved.ok || !isJsonObject(resolved.value)) return resolved;
  return ok(mergeObjects(resolved.value, { blocks: withRaw(blocks, resolved.value['blocks'] ?? null) }));
}

/** The params with null in the place of all that is passed on raw: what is looked at for templates. */
export function templatedParams(handler: string, params: Json): Json {
  const blocks = blocksOf(handler, params);
  if (blocks === undefined || !isJsonObject(params)) return params;
  return mergeObjects(params, { blocks: withoutRaw(blocks) });
}

function blocksOf(handler: string, params: Json): Json | undefined {
  return handler === 'self_modify' && isJsonObject(params) ? params['blocks'] : undefined;
}

function rawOf(value: Json): { readonly raw: Json } | null {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return null;
  const raw = Object.hasOwn(value, '$raw') ? value['$raw'] : undefined;
  return raw === undefined ? null : { raw };
}

/** Null in the place of everything raw: nothing in it is looked at. */
function withoutRaw(value: Json): Json {
  if (rawOf(value) !== null) return null;
  if (isJsonArray(value)) return value.map(withoutRaw);
  if (!isJsonObject(value)) return value;
  return jsonObject(Object.entries(value).map(([key, inner]) => [key, withoutRaw(inner)]));
}

/** The resolved value with what is raw in its place again. Resolving changes texts, and neither keys nor lengths. */
function withRaw(original: Json, resolved: Json): Json {
  const raw = rawOf(original);
  if (raw !== null) return raw.raw;
  if (isJsonArray(original) && isJsonArray(resolved)) {
    return original.map((inner, index) => withRaw(inner, resolved[index] ?? null));
  }
  if (!isJsonObject(original) || !isJsonObject(resolved)) return resolved;
  return jsonObject(
    Object.entries(original).map(([key, inner]) => [key, withRaw(inner, resolved[key] ?? null)]),
  );
}
