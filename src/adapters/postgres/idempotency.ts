import type {
  AttemptStores,
  IdempotencyStore,
  KeptAnswer,
  KeyAttempt,
  ReservedKey,
} from '../../ports/store/idempotency.ts';
import type { Store } from '../../ports/store/store.ts';
import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const RESERVE = 'SELECT stepwell.reserve_key_v1($1, $2, $3, $4, $5)';
const FINISH = 'SELECT stepwell.finish_key_v1($1, $2, $3, $4, $5, $6)';
const RELEASE = 'SELECT stepwell.release_key_v1($1, $2, $3, $4)';

/** @param storeOver Makes a store over a driver: that of an attempt goes through one which records. */
export function createIdempotencyStore(
  driver: SqlDriver,
  storeOver: (driver: SqlDriver) => Store,
): IdempotencyStore<Store> {
  return {
    reserveKey: async ({ tenantId, keyHash, fingerprint, seed, leaseMs }) =>
      answerOf<ReservedKey>(await call(driver, RESERVE, [tenantId, keyHash, fingerprint, seed, leaseMs])),
    finishAttempt: async ({ tenantId, keyHash, seed }, { status, type, body }) =>
      answerOf<KeptAnswer | null>(await call(driver, FINISH, [tenantId, keyHash, seed, status, type, body])),
    releaseAttempt: async ({ tenantId, keyHash, seed, number }) => {
      await call(driver, RELEASE, [tenantId, keyHash, seed, number]);
    },
    openAttempt: (attempt) => openAttempt(driver, storeOver, attempt),
  };
}

async function openAttempt(
  driver: SqlDriver,
  storeOver: (driver: SqlDriver) => Store,
  attempt: KeyAttempt,
): Promise<AttemptStores<Store>> {
  // Turns have no attempts of their own (see store.ts).
  const { openRecord, recordingDriver } = await import('./attempt-record.ts');
  const record = await openRecord(driver, attempt);
  return { of: (scope) => storeOver(recordingDriver(driver, record, scope)) };
}
