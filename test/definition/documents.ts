import {
  type DocumentError,
  type ParseOptions,
  parseSequence,
} from '../../src/core/definition/parse-sequence.ts';
import type { SequenceDocument, StepBlock } from '../../src/core/definition/document.ts';
import type { Warning } from '../../src/core/definition/warning.ts';
import { type Json, type JsonObject, jsonObject } from '../../src/core/json.ts';

/** A document with these blocks and, on top, these members. A member given as undefined is left out. */
export function documentOf(blocks: Json, members: Record<string, Json | undefined> = {}): JsonObject {
  const all: Record<string, Json | undefined> = {
    id: '5d0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911',
    tenant_id: 'kiln',
    namespace: 'shop',
    name: 'reorder',
    version: 3,
    created_at: '2027-02-01T09:00:00.000Z',
    blocks,
    ...members,
  };
  return jsonObject(Object.entries(all).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** A step that does nothing, with these members on top. */
export function step(id: string, members: JsonObject = {}): JsonObject {
  return { type: 'step', id, handler: 'noop', ...members };
}

/** The document of a body that is accepted. */
export function accepted(body: Json): SequenceDocument {
  const parsed = parseSequence(body);
  if (!parsed.ok) throw new Error(`refused: ${parsed.error.message}`);
  return parsed.value.document;
}

/** The first step of an accepted document with this one block. */
export function acceptedStep(members: JsonObject): StepBlock {
  const block = accepted(documentOf([step('a', members)])).blocks[0];
  if (block?.type !== 'step') throw new Error('the first block is no step');
  return block;
}

/** Why a body is refused. */
export function refusal(body: Json): DocumentError {
  const parsed = parseSequence(body);
  if (parsed.ok) throw new Error('accepted');
  return parsed.error;
}

/** Why a document with these blocks is refused, as `status message`. */
export function refusalOf(blocks: Json, members: Record<string, Json | undefined> = {}): string {
  const { status, message } = refusal(documentOf(blocks, members));
  return `${status} ${message}`;
}

/** The warnings of an accepted document. */
export function warningsOf(body: Json, options: ParseOptions = {}): readonly Warning[] {
  const parsed = parseSequence(body, options);
  if (!parsed.ok) throw new Error(`refused: ${parsed.error.message}`);
  return parsed.value.warnings;
}

/** The codes of the warnings of a document with these blocks. */
export function codesOf(blocks: Json, members: Record<string, Json> = {}): readonly string[] {
  return warningsOf(documentOf(blocks, members)).map(({ code }) => code);
}
