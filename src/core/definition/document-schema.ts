import * as z from 'zod';
import type { Json, JsonObject } from '../json.ts';
import { isJsonArray, isJsonObject, jsonObject, member } from '../json.ts';
import { SequenceDocument } from './document.ts';
import { JsonValue } from './scalars.ts';

/**
 * JSON Schema (draft 2020-12) of a sequence document as authors may send it: defaults may be left out, optional members
 * may be null, and both spellings of the A/B split are known. It says what the shape is; limits that need a look at the
 * whole document are not in it. Unknown members are allowed, as they are on publish.
 */
export function sequenceJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(SequenceDocument, {
    io: 'input',
    target: 'draft-2020-12',
    // Params and schemas of the user are any JSON, which the exporter cannot know of a custom type.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.const === 'a_b_split') {
        delete jsonSchema.const;
        jsonSchema.enum = ['a_b_split', 'ab_split'];
      }
    },
  });
  // What is left of the exporter's object when it has gone through text. Made here, so that who imports only something else
  // of the package gets no schema library.
  const json = z.record(z.string(), JsonValue).parse(JSON.parse(JSON.stringify(schema)));
  return { ...allowNulls(json), title: 'Stepwell sequence', description: 'One version of a workflow.' };
}

/** Adds null to every optional member, because null means absent (http-api.md 1.6). The schema is a few levels deep. */
function allowNulls(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]): readonly [string, Json] => {
    if (isJsonArray(value))
      return [keyword, value.map((item) => (isJsonObject(item) ? allowNulls(item) : item))];
    if (!isJsonObject(value)) return [keyword, value];
    return [keyword, keyword === 'properties' ? nullableMembers(value, schema) : allowNulls(value)];
  });
  return jsonObject(entries);
}

function nullableMembers(properties: JsonObject, schema: JsonObject): JsonObject {
  const required = member(schema, 'required');
  return jsonObject(
    Object.entries(allowNulls(properties)).map(([name, inner]) => {
      const needed = isJsonArray(required) && required.includes(name);
      return [name, needed ? inner : { anyOf: [inner, { type: 'null' }] }];
    }),
  );
}
