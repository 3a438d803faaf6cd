import { parseSequence } from '../../../src/core/definition/parse-sequence.ts';
import type { SequenceDocument } from '../../../src/core/definition/document.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';

/** A valid document with these blocks; throws when it breaks a rule. */
export function documentOf(blocks: readonly Json[], extra: JsonObject = {}): SequenceDocument {
  const parsed = parseSequence({
    id: '5b0c2f3e-91a4-4d1c-8f0e-6a7a2c1b9d44',
    tenant_id: 'saltmarsh',
    namespace: 'fulfilment',
    name: 'parcel-return',
    version: 3,
    created_at: '2027-02-11T07:45:00.000Z',
    blocks,
    ...extra,
  });
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value.document;
}

export const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

/** An object schema without other members than these. */
export const closed = (
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
