import { type SqlDriver, SqlError, type SqlParam, type SqlRows, asUnavailable } from './driver.ts';

/**
 * One statement of the store. Lost IO becomes StoreUnavailable; an SQLSTATE that is an answer of this operation is
 * handed to `answers` first.
 */
export async function call(driver: SqlDriver, text: string, params: readonly SqlParam[]): Promise<SqlRows> {
  try {
    return await driver.query(text, params);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** As `call`, under row-level security as this tenant; null sees all tenants. */
export async function tenantCall(
  driver: SqlDriver,
  tenantId: string | null,
  text: string,
  params: readonly SqlParam[],
): Promise<SqlRows> {
  try {
    return await driver.tenantQuery(tenantId, text, params);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** As `call`, for operations in which some SQLSTATEs are answers. */
export async function callOr<T>(
  operation: () => Promise<T>,
  answers: Readonly<Record<string, (error: SqlError) => T>>,
): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const answer = error instanceof SqlError ? answers[error.code] : undefined;
    if (answer !== undefined && error instanceof SqlError) return answer(error);
    throw asUnavailable(error);
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What is no UUID names nothing here; the database would refuse to compare it. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A row lock was not granted within the lock time-out. */
export const LOCK_TIMEOUT = '55P03';
