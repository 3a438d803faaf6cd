import { formatPath, type Path } from '../definition/path.ts';
import { type Fault, templateError } from '../expressions/language-error.ts';
import { trimBlanks } from '../expressions/lexical.ts';
import {
  isSpent,
  type Meter,
  newMeter,
  RESOLVED_BYTES_MAX,
  RESOLVED_LEVELS_MAX,
  spend,
  TEMPLATES_MAX,
  VALUE_LEVELS_MAX,
} from '../expressions/limits.ts';
import { parseTemplate } from '../expressions/parse-template.ts';
import { type Evaluation, newEvaluation } from '../expressions/paths.ts';
import { followChain } from '../expressions/resolve-chain.ts';
import { scanTemplates, type TemplateRange } from '../expressions/scan-template.ts';
import type { Scope } from '../expressions/scope.ts';
import { templateChains } from '../expressions/template-paths.ts';
import type { Chain } from '../expressions/template-syntax.ts';
import { canonicalSize, textOf } from '../expressions/values.ts';
import { isJsonArray, type Json } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { isSensitiveKey, REDACTED } from '../redaction.ts';
import { describeChain } from './describe-chain.ts';
import { type SecretMemory, shownValue } from './shown-value.ts';
import type { TraceEntry } from './trace-entry.ts';

/** What the strings of a value came to, and what is to be shown instead of those that hold a secret, by their place. */
export interface TracedStrings {
  readonly entries: readonly TraceEntry[];
  readonly masks: ReadonlyMap<string, Json>;
}

interface Tracing {
  readonly entries: TraceEntry[];
  readonly masks: Map<string, Json>;
  readonly evaluation: Evaluation;
  readonly memory: SecretMemory;
  /** How large all shown values together may still grow: a short text may name one large value often. */
  readonly size: Meter;
}

/** A string of the traced value. `isSecret`: it stands under a sensitive key. */
interface PlacedText {
  readonly text: string;
  readonly path: Path;
  readonly isSecret: boolean;
}

/**
 * Follows every template of a value in a scope, one entry each in the order of the value, also behind one that fails.
 * Chains are read by the functions that a step's params are resolved with.
 */
export function traceStrings(value: Json, scope: Scope): TracedStrings {
  const tracing: Tracing = {
    entries: [],
    masks: new Map(),
    evaluation: newEvaluation(scope),
    memory: new Map(),
    size: newMeter(2 * RESOLVED_BYTES_MAX),
  };
  visit(tracing, value, [], false);
  return tracing;
}

function visit(tracing: Tracing, value: Json, path: Path, isSecret: boolean): void {
  if (typeof value === 'string') {
    if (value.includes('{{')) traceText(tracing, { text: value, path, isSecret });
    return;
  }
  if (value === null || typeof value !== 'object' || path.length >= RESOLVED_LEVELS_MAX) return;
  if (isJsonArray(value)) {
    for (const [index, element] of value.entries()) visit(tracing, element, [...path, index], isSecret);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    visit(tracing, inner, [...path, key], isSecret || isSensitiveKey(key));
  }
}

function traceText(tracing: Tracing, placed: PlacedText): void {
  const { text } = placed;
  let isChanged = false;
  let isHidden = false;
  let done = 0;
  const texts: string[] = [];
  const ranges = scanTemplates(text);
  for (const range of ranges) {
    if (tracing.entries.length >= TEMPLATES_MAX) return;
    const isWhole = range.start === 0 && range.end === text.length;
    const shown = traceTemplate(tracing, placed, range, !isWhole);
    if (isWhole && shown?.isChanged === true) tracing.masks.set(maskKey(placed.path), shown.value);
    if (isWhole) return;
    isChanged ||= shown?.isChanged ?? false;
    isHidden ||= shown?.isHidden ?? false;
    texts.push(text.slice(done, range.start), shown === null ? '' : textOf(shown.value));
    done = range.end;
  }
  if (!isChanged) return;
  // A text around a secret is hidden with it, since the rest may tell what it is (http-api.md 4.3, 4.5).
  const shown = isHidden ? REDACTED : [...texts, text.slice(done)].join('');
  tracing.masks.set(maskKey(placed.path), shown);
}

/** Places of values, told apart also where keys hold dots. */
export function maskKey(path: Path): string {
  return JSON.stringify(path);
}

interface Shown {
  readonly value: Json;
  /** All of it is a secret. */
  readonly isHidden: boolean;
  readonly isChanged: boolean;
}

/** Adds the entry of one template; null when it has no value. */
function traceTemplate(
  tracing: Tracing,
  placed: PlacedText,
  range: TemplateRange,
  coercedToString: boolean,
): Shown | null {
  const template = placed.text.slice(range.start, range.end);
  const common = {
    paramPath: formatPath(placed.path),
    expression: trimBlanks(template.slice(2, -2)),
    coercedToString,
  };
  const outcome = followTemplate(tracing, template);
  if (!outcome.ok) {
    const { position = 0, ...fault } = outcome.error;
    const error = templateError({ ...fault, position: position + range.start }).message;
    tracing.entries.push({ ...common, status: 'error', fallbackUsed: false, error });
    return null;
  }
  const { chain, followed } = outcome.value;
  const told = describeChain(chain, followed, tracing.evaluation);
  const { value, isHidden, isChanged } = placed.isSecret
    ? { value: REDACTED, isHidden: true, isChanged: true }
    : shownValue(chain, followed, tracing.evaluation, tracing.memory);
  const status = isHidden && told.status !== 'missing' ? 'redacted' : told.status;
  const isAbsent = status === 'missing' && followed.value === null;
  tracing.entries.push({ ...common, ...told, status, ...(isAbsent ? {} : { value }) });
  return { value, isHidden: isHidden && !isAbsent, isChanged: isChanged && !isAbsent };
}

const TOO_LARGE: Fault = { message: 'the values together are too large to be shown' };
const TOO_COSTLY: Fault = { message: 'the templates before exceed the limit of work' };

function followTemplate(
  tracing: Tracing,
  template: string,
): Result<
  {
    readonly chain: Chain;
    readonly followed: Extract<ReturnType<typeof followChain>, { ok: true }>['value'];
  },
  Fault
> {
  // What is spent stays spent, and nothing that is still read would be paid for.
  if (isSpent(tracing.evaluation.meter)) return err(TOO_COSTLY);
  const parsed = parseTemplate(template);
  if (!parsed.ok) return parsed;
  const [chain] = templateChains(parsed.value);
  if (chain === undefined) return err({ message: 'no template' });
  const followed = followChain(chain, tracing.evaluation);
  if (!followed.ok) return followed;
  const size = canonicalSize(followed.value.value, Math.max(0, tracing.size.remaining), VALUE_LEVELS_MAX);
  if (size === undefined) return err(TOO_LARGE);
  spend(tracing.size, size);
  return ok({ chain, followed: followed.value });
}
