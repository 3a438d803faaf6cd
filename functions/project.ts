import type { JsonObject } from '../src/core/json.ts';
import { collectSequences } from '../src/sdk/collect-sequences.ts';
import type { DefinedHandler } from '../src/sdk/handler.ts';
import type { SequenceDraft } from '../src/sdk/sequence-draft.ts';

/** What a project of a user's own brings: arrays, or modules with named exports (`import * as handlers from …`). */
export interface Project {
  /** Default: the built-in handlers only. */
  readonly handlers?: readonly DefinedHandler[] | Readonly<Record<string, unknown>>;
  /** Published by each deployment (docs/decisions/0019). Default: none. */
  readonly sequences?: readonly SequenceDraft[] | Readonly<Record<string, unknown>>;
  /** As `sequences`, by file: modules, and documents under names that end in `.json`. Default: none. */
  readonly sequenceFiles?: Readonly<Record<string, unknown>>;
  /** Tenant of the sequences that name none. Default: `default`. */
  readonly tenant?: string;
}

/** The documents of the project's sequences. Throws with file and export when something is meant as one and is none. */
export function draftsOf({ sequences, sequenceFiles = {} }: Project): readonly JsonObject[] {
  const files = Object.entries(sequenceFiles).map(([file, content]) => ({ file, content }));
  const content = Array.isArray(sequences) ? { default: sequences } : sequences;
  const isEmptyList = Array.isArray(sequences) && sequences.length === 0;
  const given = content === undefined || isEmptyList ? [] : [{ file: 'the given sequences', content }];
  const drafts = collectSequences([...given, ...files]);
  if (!drafts.ok) throw new Error(`${drafts.error.message}. ${drafts.error.next}`);
  return drafts.value;
}
