import type { Failure } from '../../core/failure.ts';
import { type Json, member } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** The permanent failure of params that cannot be used [H-3]; the message names handler and param. */
export function invalidParams(handler: string, param: string, problem: string): Failure {
  return { message: `${handler}: ${param} ${problem}`, retryable: false, code: 'INVALID_PARAMS' };
}

/** A required string that is not empty [H-3]. */
export function requiredText(handler: string, params: Json, param: string): Result<string, Failure> {
  const value = member(params, param);
  if (value === undefined || value === null) return err(invalidParams(handler, param, 'is required'));
  if (typeof value !== 'string') return err(invalidParams(handler, param, 'must be a string'));
  return value === '' ? err(invalidParams(handler, param, 'must not be empty')) : ok(value);
}

/** A string, or the default when the param is absent or of another type. */
export function textOr(params: Json, param: string, otherwise: string): string {
  const value = member(params, param);
  return typeof value === 'string' ? value : otherwise;
}

/** A count or duration [H-7]: a non-negative integer; any other value counts as absent. */
export function countOr(params: Json, param: string, otherwise: number): number {
  const value = member(params, param);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
}
