import type { Json } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { checkBounds } from './bounds.ts';
import { SequenceDocument } from './document.ts';
import { schemaProblems } from './json-schema.ts';
import { readKnownMembers } from './known-members.ts';
import { checkLimits } from './limits.ts';
import { formatPath, type Path, shorten } from './path.ts';
import { type DocumentError, documentError, type Problem } from './problems.ts';
import { shapeProblems } from './shape-problems.ts';
import { documentLists, walkBlocks } from './walk.ts';
import { boundWarnings, type Warning } from './warning.ts';
import { documentWarnings } from './warnings.ts';

export type { DocumentError } from './problems.ts';
export type { Warning } from './warning.ts';

export interface ParsedSequence {
  readonly document: SequenceDocument;
  readonly warnings: readonly Warning[];
}

export interface ParseOptions {
  /** Handler names that need no warning: built-in ones, registered ones, those a live worker serves. Absent: no check. */
  readonly knownHandlers?: ReadonlySet<string>;
}

/**
 * Checks a document that is to be published and gives it its stored form: durations in milliseconds, defaults applied,
 * unknown members dropped ([PUB-2] to [PUB-4] in this order, stopping at the first group that fails).
 *
 * Errors: 422 with the path when the shape is wrong; 400 with the block id and the rule when a limit is broken or a
 * schema is none. Size, depth and number of blocks are bounded before the shape is looked at (400). Uniqueness ([PUB-5])
 * is the store's. Never throws, whatever the body holds.
 */
export function parseSequence(body: Json, options: ParseOptions = {}): Result<ParsedSequence, DocumentError> {
  const tooLarge = checkBounds(body);
  if (tooLarge !== null) return err(documentError(400, [tooLarge]));
  const known = readKnownMembers(body);
  if (known.refused !== null) return err(documentError(400, [known.refused]));
  const shape = SequenceDocument.safeParse(known.body);
  if (!shape.success) return err(documentError(422, shapeProblems(shape.error.issues, known.body)));
  const document = shape.data;
  const limits = checkLimits(document);
  if (limits.length > 0) return err(documentError(400, limits));
  const schemas = badSchemas(document);
  if (schemas.length > 0) return err(documentError(400, schemas));
  const warnings = [...known.warnings, ...documentWarnings(document, options.knownHandlers)];
  return ok({ document, warnings: boundWarnings(warnings) });
}

/** [PUB-4] for `input_schema` and every `output_schema`. */
function badSchemas(document: SequenceDocument): readonly Problem[] {
  const problems = problemsOfSchema(document.input_schema, ['input_schema']);
  for (const { name, blocks } of documentLists(document)) {
    for (const { block, path } of walkBlocks(blocks, [name])) {
      if (block.type !== 'step') continue;
      problems.push(...problemsOfSchema(block.output_schema, [...path, 'output_schema'], block.id));
    }
  }
  return problems;
}

function problemsOfSchema(schema: Json | undefined, path: Path, blockId?: string): Problem[] {
  if (schema === undefined) return [];
  return schemaProblems(schema).map(({ pointer, message }) => ({
    path: formatPath(path),
    rule: 'PUB-4',
    message: `${path.at(-1)} is not a usable JSON Schema: ${message}${pointer === '' ? '' : ` at ${shorten(pointer)}`}`,
    ...(blockId === undefined ? {} : { block_id: shorten(blockId) }),
  }));
}
