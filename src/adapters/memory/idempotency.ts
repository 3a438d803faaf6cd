import type {
  IdempotencyStore,
  KeptAnswer,
  KeyAttempt,
  KeyReservation,
  ReservedKey,
} from '../../ports/store/idempotency.ts';
import { type Store, StoreUnavailable } from '../../ports/store/store.ts';
import type { RequestKeyRow, Run, Tx } from './database.ts';

const KEPT_MS = 86_400_000;

/** What the calls of a request have answered, by seed, scope, method and count. */
type Records = Map<string, Map<string, Promise<unknown>>>;

/** The part of the store that keeps keys of requests. */
export function idempotencyPart(run: Run, storeOf: () => Store): IdempotencyStore<Store> {
  const records: Records = new Map();
  return {
    reserveKey: (reservation) => run((tx) => reserve(tx, records, reservation)),
    finishAttempt: (attempt, answer) =>
      run((tx) => {
        const kept = finish(tx, attempt, answer);
        records.delete(attempt.seed);
        return kept;
      }),
    releaseAttempt: (attempt) => run((tx) => release(tx, attempt)),
    openAttempt: (attempt) => {
      const record = createRecord(records, attempt);
      const check = (): Promise<void> => run((tx) => expectOpen(tx, attempt));
      return Promise.resolve({ of: (scope) => recordingStore(storeOf(), record, scope, check) });
    },
  };
}

function reserve(tx: Tx, records: Records, request: KeyReservation): ReservedKey {
  const { tenantId, keyHash, fingerprint, seed, leaseMs } = request;
  const key = keyOf(request);
  const taken = { tenantId, keyHash, fingerprint, leaseUntil: tx.t + leaseMs, expiresAt: tx.t + KEPT_MS };
  const put = (row: { readonly seed: string; readonly number: number }): ReservedKey => {
    tx.db.requestKeys.put(key, { ...taken, ...row, answer: null });
    return { status: 'taken', ...row };
  };
  const known = tx.db.requestKeys.get(key);
  if (known === undefined) return put({ seed, number: 1 });
  if (known.seed === seed && known.answer === null) return { status: 'taken', seed, number: known.number };
  const isOther = known.fingerprint !== fingerprint;
  if (known.expiresAt <= tx.t || (isOther && known.answer === null && known.leaseUntil === null)) {
    records.delete(known.seed);
    return put({ seed, number: 1 });
  }
  if (isOther) return { status: 'mismatch' };
  if (known.answer !== null) return { status: 'answered', answer: known.answer };
  if ((known.leaseUntil ?? 0) > tx.t) return { status: 'running' };
  return put({ seed: known.seed, number: known.number + 1 });
}

function finish(tx: Tx, attempt: KeyAttempt, answer: KeptAnswer): KeptAnswer | null {
  const row = rowOf(tx, attempt);
  if (row === null) return null;
  if (row.answer !== null) return row.answer;
  const kept = Object.freeze({ ...answer });
  const changes = { answer: kept, leaseUntil: null, expiresAt: tx.t + KEPT_MS };
  tx.db.requestKeys.put(keyOf(attempt), { ...row, ...changes });
  return kept;
}

function release(tx: Tx, attempt: KeyAttempt): void {
  const row = rowOf(tx, attempt);
  if (row === null || row.answer !== null || row.number !== attempt.number) return;
  tx.db.requestKeys.put(keyOf(attempt), { ...row, leaseUntil: null });
}

/** Requests of a process that is gone may be made again at once. */
export function endKeyLeases(tx: Tx): void {
  for (const [key, row] of tx.db.requestKeys.entries()) {
    if (row.leaseUntil !== null) tx.db.requestKeys.put(key, { ...row, leaseUntil: tx.t });
  }
}

function expectOpen(tx: Tx, attempt: KeyAttempt): void {
  const row = rowOf(tx, attempt);
  if (row === null || row.answer !== null) {
    throw new StoreUnavailable('the request has ended without this attempt', { unknown: false });
  }
}

function rowOf(tx: Tx, attempt: KeyAttempt): RequestKeyRow | null {
  const row = tx.db.requestKeys.get(keyOf(attempt));
  return row?.seed === attempt.seed ? row : null;
}

function keyOf({ tenantId, keyHash }: Pick<KeyAttempt, 'tenantId' | 'keyHash'>): string {
  return JSON.stringify([tenantId, keyHash]);
}

interface AttemptRecord {
  readonly known: Map<string, Promise<unknown>>;
  readonly counts: Map<string, number>;
  /** Read, and not recorded yet. */
  unrecorded: ReadonlyArray<readonly [string, Promise<unknown>]>;
}

function createRecord(records: Records, { seed }: KeyAttempt): AttemptRecord {
  const known = records.get(seed) ?? new Map<string, Promise<unknown>>();
  records.set(seed, known);
  return { known, counts: new Map(), unrecorded: [] };
}

/** Claims and leases are of this attempt; what they led to is what counts. */
const READS =
  /^(?:get|list|find|read|count|ping|peek|next|has|due|claimDue|claimOne|claimExpired|renewLeases|releaseLeases|taskStats)/;

/** A store that remembers what its calls have answered, and answers the same to a later attempt. */
function recordingStore(
  store: Store,
  record: AttemptRecord,
  scope: string,
  check: () => Promise<void>,
): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return (...args: readonly unknown[]): Promise<unknown> => {
        const key = nextKey(record, scope, name);
        const known = record.known.get(key);
        if (known !== undefined) return known;
        const answer = async (): Promise<unknown> => Reflect.apply(method, target, args);
        if (READS.test(name)) {
          const read = answer();
          record.unrecorded = [...record.unrecorded, [key, read]];
          return read;
        }
        return change(record, key, () => check().then(answer));
      };
    },
  });
}

function nextKey(record: AttemptRecord, scope: string, name: string): string {
  const counted = JSON.stringify([scope, name]);
  const n = (record.counts.get(counted) ?? 0) + 1;
  record.counts.set(counted, n);
  return JSON.stringify([scope, name, n]);
}

/** Known from the start on, so that of two attempts side by side only one makes the call; forgotten when it fails. */
async function change(record: AttemptRecord, key: string, make: () => Promise<unknown>): Promise<unknown> {
  const made = make();
  record.known.set(key, made);
  const reads = record.unrecorded;
  record.unrecorded = [];
  try {
    const answer = await made;
    for (const [readKey, read] of reads) if (!record.known.has(readKey)) record.known.set(readKey, read);
    return answer;
  } catch (error) {
    record.known.delete(key);
    record.unrecorded = [...reads, ...record.unrecorded];
    throw error;
  }
}
