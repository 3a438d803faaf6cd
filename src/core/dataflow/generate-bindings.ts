import type { SequenceDocument } from '../definition/document.ts';
import { serialiseSequence } from '../definition/serialise.ts';
import { walkBlocks } from '../definition/walk.ts';
import { sha256Hex } from '../digest.ts';
import {
  canonicalJson,
  compareCodePoints,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonObject,
} from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { kotlinBindings } from './bindings/kotlin.ts';
import { pythonBindings } from './bindings/python.ts';
import { newRenderBudget, readShape } from './bindings/read-shape.ts';
import { swiftBindings } from './bindings/swift.ts';
import { ANYTHING, type TypeShape } from './bindings/type-shape.ts';
import { typescriptBindings } from './bindings/typescript.ts';

/** Named so by the contract. A change of what is generated for the same document changes it. */
const GENERATOR_VERSION = 'orch8-dataflow-v2';

export interface GeneratedBindings {
  readonly generatorVersion: string;
  /** Over the canonical JSON of the normalised definition without its state of life. */
  readonly sequenceSha256: string;
  readonly schema: JsonObject;
  readonly typescript: string;
  readonly python: string;
  readonly swift: string;
  readonly kotlin: string;
}

/**
 * Schemas and types of a sequence's input and of its blocks' outputs (http-api.md 4.2). The same definition gives the same
 * bytes. The error names the schema that is too large to render.
 */
export function generateBindings(document: SequenceDocument): Result<GeneratedBindings, string> {
  const budget = newRenderBudget();
  const schemas = outputSchemas(document);
  const input = shapeOf(document.input_schema, budget);
  if (input === null) return err('input_schema');
  const outputs: { readonly name: string; readonly shape: TypeShape }[] = [];
  for (const [name, schema] of schemas) {
    const shape = shapeOf(schema, budget);
    if (shape === null) return err(`output_schema of block '${name}'`);
    outputs.push({ name, shape });
  }
  const source = { input, outputs };
  const sequenceSha256 = definitionSha256(document);
  return ok({
    generatorVersion: GENERATOR_VERSION,
    sequenceSha256,
    schema: schemaBundle(document, sequenceSha256, schemas),
    typescript: typescriptBindings(source),
    python: pythonBindings(source),
    swift: swiftBindings(source),
    kotlin: kotlinBindings(source),
  });
}

function shapeOf(schema: Json | undefined, budget: ReturnType<typeof newRenderBudget>): TypeShape | null {
  return schema === undefined ? ANYTHING : readShape(schema, budget);
}

/** The output schema of each block of the main tree, by block id. */
function outputSchemas({ blocks }: SequenceDocument): readonly (readonly [string, Json | undefined])[] {
  return [...walkBlocks(blocks)]
    .map(({ block }) => [block.id, block.type === 'step' ? block.output_schema : undefined] as const)
    .sort(([left], [right]) => compareCodePoints(left, right));
}

function schemaBundle(
  { id, name, version, input_schema: input = true }: SequenceDocument,
  sha256: string,
  schemas: readonly (readonly [string, Json | undefined])[],
): JsonObject {
  return {
    generator_version: GENERATOR_VERSION,
    sequence: { id, name, version, sha256 },
    input: ordered(input),
    outputs: jsonObject(schemas.map(([blockId, schema]) => [blockId, ordered(schema ?? true)])),
  };
}

/** Members by name: the database gives them back in an order of its own. */
function ordered(value: Json): Json {
  if (isJsonArray(value)) return value.map(ordered);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort(compareCodePoints);
  return jsonObject(names.map((name) => [name, ordered(value[name] ?? null)]));
}

/** Status and `deprecated` change after a publish, and are none of the definition's. */
function definitionSha256(document: SequenceDocument): string {
  const { status: _status, deprecated: _deprecated, ...definition } = serialiseSequence(document);
  return sha256Hex(canonicalJson(definition));
}
