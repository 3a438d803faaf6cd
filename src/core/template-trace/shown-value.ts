import type { Evaluation } from '../expressions/paths.ts';
import { readTarget } from '../expressions/read-target.ts';
import type { Followed } from '../expressions/resolve-chain.ts';
import type { Chain, Reading, Segment, Target } from '../expressions/template-syntax.ts';
import type { Json } from '../json.ts';
import { holdsSecret, isSensitiveKey, REDACTED, redact } from '../redaction.ts';

/** The value of a chain as it may be shown. `isHidden`: all of it was a secret; `isChanged`: at least a part was. */
export interface ShownValue {
  readonly value: Json;
  readonly isHidden: boolean;
  readonly isChanged: boolean;
}

/** Whether a value holds a secret, remembered: a text may name the same large value a thousand times. */
export type SecretMemory = Map<Json, boolean>;

const HIDDEN: ShownValue = { value: REDACTED, isHidden: true, isChanged: true };

/**
 * The value of a chain without what is secret (http-api.md 4.5): all of it when its path names a sensitive key, when it
 * looks like a secret, or when a filter or `json()` has made something else of a value that holds one; of a plain value
 * the parts that are secret.
 */
export function shownValue(
  chain: Chain,
  followed: Followed,
  evaluation: Evaluation,
  memory: SecretMemory,
): ShownValue {
  const giver = giverOf(chain, followed);
  if (giver !== undefined && namesOf(giver.target).some(isSensitiveKey)) return HIDDEN;
  if (chain.segments.some((segment) => takesSecret(segment, evaluation, memory))) return HIDDEN;
  const raw = giver === undefined ? undefined : rawValue(giver.target, evaluation);
  if (raw !== undefined && giver?.via !== 'len' && isSecret(raw, memory)) {
    const isPlain = giver?.via === 'value' && !chain.segments.some(({ kind }) => kind === 'filter');
    if (!isPlain || typeof raw === 'string') return HIDDEN;
    return { value: redact(followed.value), isHidden: false, isChanged: true };
  }
  if (!isSecret(followed.value, memory)) return { value: followed.value, isHidden: false, isChanged: false };
  const value = redact(followed.value);
  return { value, isHidden: value === REDACTED, isChanged: true };
}

/** The path or call that gave the value, or that was null when nothing gave one. */
export function giverOf(chain: Chain, { from, literal }: Followed): Reading | undefined {
  if (from < 0 || literal) return undefined;
  const segment = from === 0 ? chain.source : chain.segments[from - 1];
  return segment?.kind === 'reading' ? segment : undefined;
}

/** What a target leads to now; undefined when that is nothing. */
export function rawValue(target: Target, evaluation: Evaluation): Json | undefined {
  const found = readTarget(target, evaluation);
  return found.kind === 'value' ? found.value : undefined;
}

/** True for a `replace` that puts in a secret. */
function takesSecret(segment: Segment, evaluation: Evaluation, memory: SecretMemory): boolean {
  if (segment.kind !== 'filter' || segment.filter.name !== 'replace') return false;
  const { target } = segment.filter.replacement;
  const value = target && rawValue(target, evaluation);
  if (target === undefined || value === undefined) return false;
  return namesOf(target).some(isSensitiveKey) || isSecret(value, memory);
}

/** The keys that a path goes through. The id of a block is no key of anybody's data. */
function namesOf(target: Target): readonly string[] {
  switch (target.kind) {
    case 'broken':
      return [];
    case 'item':
      return [target.name, ...target.segments];
    case 'path':
      return target.path.root === 'outputs' ? target.path.segments.slice(1) : target.path.segments;
  }
}

function isSecret(value: Json, memory: SecretMemory): boolean {
  const known = memory.get(value) ?? holdsSecret(value);
  memory.set(value, known);
  return known;
}
