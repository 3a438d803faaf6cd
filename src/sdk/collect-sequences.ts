import { toJson } from '../core/call-output.ts';
import type { Advice } from '../core/advice.ts';
import { SequenceDocument } from '../core/definition/document.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';

/** One file of a project that may bring sequences. */
export interface SequenceSource {
  /** For the texts, relative to the project. */
  readonly file: string;
  /** The exports of a module, or the document of a JSON file. */
  readonly content: unknown;
}

type Drafts = Result<readonly JsonObject[], Advice>;

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(SequenceDocument.shape));
const LEAVE_OUT =
  'What is no sequence belongs into a file outside of the sequences, or should not be exported.';

/**
 * The sequences of a project's files, the same for every host. What has to be one: a JSON file, a default export, and an
 * item of a list that holds a sequence. Of the other exports those are which have `blocks`, or a `name` and nothing that a
 * sequence has not; blocks, which have a `type`, and everything else are helpers and left alone. What has to be a sequence
 * and lacks its `name` or its `blocks` is an error that names file and export. What is exported twice
 * counts once.
 */
export function collectSequences(sources: readonly SequenceSource[]): Drafts {
  const found = new Map<string, JsonObject>();
  for (const { file, content } of sources) {
    const candidates = file.endsWith('.json')
      ? [{ place: file, value: content, isMeant: true }]
      : candidatesOf(file, content);
    for (const { place, value, isMeant } of candidates) {
      if (!isMeant && !looksLikeSequence(value)) continue;
      const draft = readDraft(place, value);
      if (!draft.ok) return draft;
      found.set(canonicalJson(draft.value), draft.value);
    }
  }
  if (found.size > 0 || sources.length === 0) return ok([...found.values()]);
  return err({
    message: `${sources.map(({ file }) => file).join(', ')}: no sequence is exported`,
    next: "Export at least one: export const hello = sequence({ name: 'hello', blocks: [ … ] }).",
  });
}

interface Candidate {
  readonly place: string;
  readonly value: unknown;
  readonly isMeant: boolean;
}

function candidatesOf(file: string, content: unknown): readonly Candidate[] {
  if (typeof content !== 'object' || content === null) return [];
  return Object.entries(content).flatMap(([name, value]): readonly Candidate[] => {
    const place = name === 'default' ? `the default export of ${file}` : `the export ${name} of ${file}`;
    const isDefault = name === 'default';
    if (!Array.isArray(value)) return [{ place, value, isMeant: isDefault }];
    const isMeant = isDefault || value.some(looksLikeSequence);
    return value.map((item: unknown, index) => ({
      place: `item ${index} of ${place}`,
      value: item,
      isMeant,
    }));
  });
}

function looksLikeSequence(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.hasOwn(value, 'type')) return false;
  if (Object.hasOwn(value, 'blocks')) return true;
  return Object.hasOwn(value, 'name') && Object.keys(value).every((key) => MEMBERS.has(key));
}

function readDraft(place: string, value: unknown): Result<JsonObject, Advice> {
  const json = toJson(value);
  if (!json.ok) return err({ message: `${place} is no sequence: it holds ${json.error}`, next: LEAVE_OUT });
  const draft = json.value;
  if (!isJsonObject(draft)) return err({ message: `${place} is no sequence`, next: LEAVE_OUT });
  const missing = [
    ...(typeof draft['name'] === 'string' ? [] : ['name (a text)']),
    ...(Array.isArray(draft['blocks']) ? [] : ['blocks (a list)']),
  ];
  if (missing.length === 0) return ok(draft);
  return err({ message: `${place} is no sequence: it has no ${missing.join(' and no ')}`, next: LEAVE_OUT });
}
