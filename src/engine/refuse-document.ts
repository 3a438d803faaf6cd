import type { DocumentError } from '../core/definition/problems.ts';
import { jsonObject } from '../core/json.ts';
import { refuse, type Refused } from './refusal.ts';

/** The refusal of a document that breaks a rule: all problems are among its details. */
export function refuseDocument(error: DocumentError): Refused {
  const details = error.details.map((problem) => jsonObject(Object.entries(problem)));
  return refuse(error.status === 422 ? 'unprocessable_entity' : 'invalid_argument', error.message, {
    code: error.status === 422 ? 'invalid_shape' : 'invalid_definition',
    details,
  });
}
