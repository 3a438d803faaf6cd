import type { JsonObject } from '../src/core/json.ts';
import { isJsonObject } from '../src/core/json.ts';
import { toJson } from '../src/core/call-output.ts';
import { collectHandlers } from '../src/sdk/collect-handlers.ts';
import type { DefinedHandler } from '../src/sdk/handler.ts';
import type { SequenceDraft } from '../src/sdk/sequence-draft.ts';

/** What a project of a user's own brings: arrays, or modules with named exports (`import * as handlers from …`). */
export interface Project {
  /** Default: the built-in handlers only. */
  readonly handlers?: readonly DefinedHandler[] | Readonly<Record<string, unknown>>;
  /** Published by the first invocation of a deployment that brings new ones. Default: none. */
  readonly sequences?: readonly SequenceDraft[] | Readonly<Record<string, unknown>>;
  /** Tenant of the sequences that name none. Default: `default`. */
  readonly tenant?: string;
}

/** The handlers of the project. Throws with the reason when something else stands where they should be. */
export function handlersOf({ handlers = [] }: Project): readonly DefinedHandler[] {
  const module = Array.isArray(handlers) ? { default: handlers } : handlers;
  if (Array.isArray(handlers) && handlers.length === 0) return [];
  const collected = collectHandlers(module, 'the list of handlers', () => null);
  if (!collected.ok) throw new Error(`${collected.error.message}. ${collected.error.next}`);
  return collected.value;
}

/** The documents of the project's sequences: every export with a name and blocks. Throws when one is no JSON. */
export function draftsOf({ sequences = [] }: Project): readonly JsonObject[] {
  const candidates: readonly unknown[] = Array.isArray(sequences) ? sequences : Object.values(sequences);
  return candidates.filter(isDraft).map((draft) => {
    const json = toJson(draft);
    if (!json.ok || !isJsonObject(json.value)) throw new Error(`sequence ${draft.name} is no JSON`);
    return json.value;
  });
}

function isDraft(value: unknown): value is { readonly name: string } {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && typeof value.name === 'string' && 'blocks' in value;
}
