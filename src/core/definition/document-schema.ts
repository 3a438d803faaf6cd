import * as z from 'zod';
import type { Json, JsonObject } from '../json.ts';
import { isJsonArray, isJsonObject, jsonObject, member } from '../json.ts';
import { SequenceDocument } from './document.ts';

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
  const json: Json = JSON.parse(JSON.stringify(schema));
  const described = allowNulls(json);
  return isJsonObject(described)
    ? { ...described, title: 'Stepwell sequence', description: 'One version of a workflow.' }
    : {};
}

/** Adds null to every optional member, because null means absent (http-api.md 1.6). The schema is a few levels deep. */
function allowNulls(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(allowNulls);
  if (!isJsonObject(schema)) return schema;
  const properties = member(schema, 'properties');
  const entries = Object.entries(schema).map(([keyword, value]): readonly [string, Json] => {
    if (keyword !== 'properties' || !isJsonObject(properties)) return [keyword, allowNulls(value)];
    return [keyword, nullableMembers(properties, member(schema, 'required'))];
  });
  return jsonObject(entries);
}

function nullableMembers(properties: JsonObject, required: Json | undefined): JsonObject {
  const needed = isJsonArray(required) ? required : [];
  return jsonObject(
    Object.entries(properties).map(([name, schema]) => {
      const inner = allowNulls(schema);
      // An empty schema allows null already.
      const open = needed.includes(name) || (isJsonObject(inner) && Object.keys(inner).length === 0);
      return [name, open ? inner : { anyOf: [inner, { type: 'null' }] }];
    }),
  );
}
