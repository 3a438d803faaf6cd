import type { ErrorCode } from '../../core/error-codes.ts';
import type { Failure } from '../../core/failure.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { StepOutcome } from '../../ports/step-handler.ts';

export function failed(failure: Failure): StepOutcome {
  return { ok: false, failure };
}

/** Null for params that are fine: what `checkParams` answers. */
export function failureOf(result: Result<unknown, Failure>): Failure | null {
  return result.ok ? null : result.error;
}

/** A permanent failure of a built-in handler. */
export function permanent(code: ErrorCode, message: string, details?: Failure['details']): Failure {
  return { message, retryable: false, code, ...(details === undefined ? {} : { details }) };
}

/** Reading the store may lose the connection: that is worth another try [H-4]. */
export async function fromStore<T>(read: () => Promise<T>): Promise<Result<T, Failure>> {
  try {
    return ok(await read());
  } catch {
    // The driver's text is left out: it may name hosts and users of the database.
    return err({ message: 'the store could not be asked', retryable: true, code: 'STORAGE_ERROR' });
  }
}
