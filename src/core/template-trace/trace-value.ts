import type { Path } from '../definition/path.ts';
import type { LanguageError } from '../expressions/language-error.ts';
import type { Scope } from '../expressions/scope.ts';
import { resolveTemplates } from '../expressions/template.ts';
import { isJsonArray, isJsonObject, type Json, jsonObject } from '../json.ts';
import { redact } from '../redaction.ts';
import type { Result } from '../result.ts';
import { resolveParams, templatedParams } from '../run/leaf/raw-params.ts';
import type { TemplateTrace } from './trace-entry.ts';
import { maskKey, type TracedStrings, traceStrings } from './trace-templates.ts';

/** The trace of a text or any other value with templates. */
export function traceValue(value: Json, scope: Scope): TemplateTrace {
  return joined(value, traceStrings(value, scope), resolveTemplates(value, scope));
}

/** The trace of a step's params, which are resolved exactly as for its call ([TPL-1]). */
export function traceParams(handler: string, params: Json, scope: Scope): TemplateTrace {
  const strings = traceStrings(templatedParams(handler, params), scope);
  return joined(params, strings, resolveParams(handler, params, scope));
}

function joined(
  original: Json,
  { entries, masks }: TracedStrings,
  resolved: Result<Json, LanguageError>,
): TemplateTrace {
  if (!resolved.ok) return { error: resolved.error.message, entries };
  return { resolved: redact(masked(original, resolved.value, [], masks)), entries };
}

/** The resolved value with the masks in their places. Resolving changes texts, and neither keys nor lengths. */
function masked(original: Json, resolved: Json, path: Path, masks: ReadonlyMap<string, Json>): Json {
  if (masks.size === 0) return resolved;
  if (typeof original === 'string') return masks.get(maskKey(path)) ?? resolved;
  if (isJsonArray(original) && isJsonArray(resolved)) {
    return original.map((inner, index) => masked(inner, resolved[index] ?? null, [...path, index], masks));
  }
  if (!isJsonObject(original) || !isJsonObject(resolved)) return resolved;
  return jsonObject(
    Object.entries(original).map(([key, inner]) => [
      key,
      masked(inner, resolved[key] ?? null, [...path, key], masks),
    ]),
  );
}
