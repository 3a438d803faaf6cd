import type { Json } from '../json.ts';
import { member } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { checkBounds } from './bounds.ts';
import { SequenceDocument } from './document.ts';
import { readKnownMembers } from './known-members.ts';
import { checkLimits } from './limits.ts';
import { type DocumentError, documentError, type Problem } from './problems.ts';
import { Int32 } from './scalars.ts';
import { shapeProblems } from './shape-problems.ts';
import { boundWarnings, type Warning } from './warning.ts';
import { documentWarnings } from './warnings.ts';

/** A document of the right shape, whatever its rules say; null when it has too many blocks or too deep ones to be read. */
export interface ReadDraft {
  readonly document: SequenceDocument | null;
  readonly name: string;
  readonly version: number;
  /** Broken limits ([PUB-3]); bad schemas are not among them. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/**
 * Reads a document that need not be fit for a publish. Errors: 422 when the shape is wrong, 400 when it is so large or
 * deep that its shape cannot be looked at.
 */
export function readDraft(body: Json): Result<ReadDraft, DocumentError> {
  const tooLarge = checkBounds(body);
  if (tooLarge !== null) return err(documentError(400, [tooLarge]));
  const known = readKnownMembers(body);
  if (known.refused !== null) return unreadable(body, known.refused);
  const shape = SequenceDocument.safeParse(known.body);
  if (!shape.success) return err(documentError(422, shapeProblems(shape.error.issues, known.body)));
  const document = shape.data;
  const warnings = boundWarnings([...known.warnings, ...documentWarnings(document)]);
  const { name, version } = document;
  return ok({ document, name, version, problems: checkLimits(document), warnings });
}

function unreadable(body: Json, problem: Problem): Result<ReadDraft, DocumentError> {
  const name = member(body, 'name');
  const version = Int32.safeParse(member(body, 'version'));
  if (typeof name !== 'string' || !version.success) return err(documentError(400, [problem]));
  return ok({ document: null, name, version: version.data, problems: [problem], warnings: [] });
}
