import { isJsonArray, type Json, type JsonObject, jsonObject } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { type Fault, type LanguageError, pointerStep, templateError } from './language-error.ts';
import {
  isSpent,
  type Meter,
  newMeter,
  RESOLVED_BYTES_MAX,
  RESOLVED_LEVELS_MAX,
  spend,
  TEMPLATES_MAX,
} from './limits.ts';
import { parseTemplate } from './parse-template.ts';
import { type Evaluation, newEvaluation } from './paths.ts';
import { resolveChain } from './resolve-chain.ts';
import type { Scope } from './scope.ts';
import type { Chain } from './template-syntax.ts';
import { canonicalSize, textOf, textSize } from './values.ts';

/** One call: what it may still read, how large the result may still grow and how many templates are left. */
interface Resolution {
  readonly evaluation: Evaluation;
  readonly size: Meter;
  readonly templates: Meter;
}

const TOO_LARGE: Fault = {
  message: `the resolved value is larger than ${RESOLVED_BYTES_MAX} bytes or nested deeper than ${RESOLVED_LEVELS_MAX} levels`,
};

/**
 * A JSON value with the templates in all its strings resolved, at any depth; keys stay as they are ([TPL-10]). One
 * pass: text that comes out of a template is never scanned again ([TPL-15]). Errors are `TEMPLATE_ERROR` and name the
 * pointer of the string and the position in it.
 */
export function resolveTemplates(value: Json, scope: Scope): Result<Json, LanguageError> {
  const resolution: Resolution = {
    evaluation: newEvaluation(scope),
    size: newMeter(RESOLVED_BYTES_MAX),
    templates: newMeter(TEMPLATES_MAX),
  };
  const resolved = resolveValue(value, RESOLVED_LEVELS_MAX, resolution);
  if (!resolved.ok) return err(templateError(resolved.error));
  return isSpent(resolution.size) ? err(templateError(TOO_LARGE)) : resolved;
}

/**
 * A text with its templates resolved: the value itself with its type when the text is one template, otherwise a string
 * ([TPL-13], [TPL-14]).
 */
export function resolveTemplateText(text: string, scope: Scope): Result<Json, LanguageError> {
  return resolveTemplates(text, scope);
}

function resolveValue(value: Json, levels: number, resolution: Resolution): Result<Json, Fault> {
  if (typeof value === 'string') return resolveText(value, levels, resolution);
  if (value === null || typeof value !== 'object') return accounted(value, levels, resolution);
  if (levels === 0) return err(TOO_LARGE);
  return isJsonArray(value)
    ? resolveArray(value, levels - 1, resolution)
    : resolveObject(value, levels - 1, resolution);
}

/** Brackets and commas are paid first; should that be too much, the next element or the end says so. */
function resolveArray(array: readonly Json[], levels: number, resolution: Resolution): Result<Json, Fault> {
  spend(resolution.size, Math.max(2, array.length + 1));
  const resolved: Json[] = [];
  for (const [index, element] of array.entries()) {
    const result = resolveValue(element, levels, resolution);
    if (!result.ok) return err(below(index, result.error));
    resolved.push(result.value);
  }
  return ok(resolved);
}

function resolveObject(object: JsonObject, levels: number, resolution: Resolution): Result<Json, Fault> {
  const resolved: [string, Json][] = [];
  const entries = Object.entries(object);
  spend(resolution.size, Math.max(2, entries.length * 2 + 1));
  for (const [key, member] of entries) {
    const name = accounted(key, levels, resolution);
    const result = name.ok ? resolveValue(member, levels, resolution) : name;
    if (!result.ok) return err(below(key, result.error));
    resolved.push([key, result.value]);
  }
  return ok(jsonObject(resolved));
}

/** A fault as the container sees it: with the key in front of the pointer. */
function below(key: string | number, fault: Fault): Fault {
  return { ...fault, pointer: pointerStep(key) + (fault.pointer ?? '') };
}

function resolveText(text: string, levels: number, resolution: Resolution): Result<Json, Fault> {
  if (!text.includes('{{')) return accounted(text, levels, resolution);
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed;
  const template = parsed.value;
  if (!spend(resolution.templates, template.chainCount)) {
    return err({ message: `more than ${TEMPLATES_MAX} templates` });
  }
  const resolved =
    template.kind === 'whole'
      ? resolveChain(template.chain, resolution.evaluation)
      : resolveInline(template.parts, resolution);
  return resolved.ok ? accounted(resolved.value, levels, resolution) : resolved;
}

/** Every template replaced by the text of its value ([TPL-14]). Sizes are known before texts are joined. */
function resolveInline(parts: readonly (string | Chain)[], resolution: Resolution): Result<Json, Fault> {
  const texts: string[] = [];
  let room = resolution.size.remaining;
  for (const part of parts) {
    const value = typeof part === 'string' ? ok(part) : resolveChain(part, resolution.evaluation);
    if (!value.ok) return value;
    const size = textSize(value.value, room);
    if (size === undefined) return err(TOO_LARGE);
    room -= size;
    texts.push(textOf(value.value));
  }
  return ok(texts.join(''));
}

/** A finished value, when its canonical JSON still fits into the result. */
function accounted(value: Json, levels: number, { size }: Resolution): Result<Json, Fault> {
  const bytes = canonicalSize(value, size.remaining, levels);
  if (bytes === undefined) return err(TOO_LARGE);
  spend(size, bytes);
  return ok(value);
}
