import { sha256Hex } from '../../core/digest.ts';
import type { KeyAttempt } from '../../ports/store/idempotency.ts';
import { StoreUnavailable } from '../../ports/store/store.ts';
import {
  asTenant,
  type SqlDriver,
  SqlError,
  type SqlParam,
  type SqlRows,
  type SqlStatement,
} from './driver.ts';
import { call } from './call.ts';
import { answerOf } from './rows.ts';

/** What an attempt has been told so far, by scope, statement and how many times the statement was sent. */
export interface AttemptRecord {
  readonly attempt: KeyAttempt;
  readonly known: Map<string, SqlRows>;
  readonly counts: Map<string, number>;
  /** Read, and not recorded yet: what is done next depends on it. */
  unrecorded: readonly RecordedCall[];
}

interface RecordedCall {
  readonly scope: string;
  readonly name: string;
  readonly n: number;
  readonly result: SqlRows;
}

const BEGIN = 'SELECT stepwell.begin_call_v1($1, $2, $3)';
const RECORDED = 'SELECT stepwell.recorded_calls_v1($1)';
/** Another attempt has made the call: what it was told counts. */
const MADE_BEFORE = 'SW011';
/** The request has its answer, or the key is another request's. */
const ENDED = 'SW012';
/** Larger answers of reads are not recorded; a later attempt reads them again. */
const RECORDED_MAX_CHARS = 4 * 1024 * 1024;

/** Nothing is asked for the first attempt: it has no past. */
export async function openRecord(driver: SqlDriver, attempt: KeyAttempt): Promise<AttemptRecord> {
  const record: AttemptRecord = { attempt, known: new Map(), counts: new Map(), unrecorded: [] };
  if (attempt.number > 1) await load(driver, record);
  return record;
}

async function load(driver: SqlDriver, { attempt, known }: AttemptRecord): Promise<void> {
  const calls = answerOf<readonly StoredCall[]>(await call(driver, RECORDED, [attempt.seed]));
  for (const { scope, name, n, result } of calls) known.set(keyOf(scope, name, n), rowsOf(result));
}

/** The database records a row as an object, this process as a list. */
type StoredRow = readonly unknown[] | Readonly<Record<string, unknown>>;

interface StoredCall extends Omit<RecordedCall, 'result'> {
  readonly result: readonly StoredRow[];
}

function rowsOf(stored: readonly StoredRow[]): SqlRows {
  return stored.map((row) => Object.values(row));
}

function keyOf(scope: string, name: string, n: number): string {
  return JSON.stringify([scope, name, n]);
}

/**
 * A driver that records what changes something in the transaction of the change, and tells a later attempt the same. Claims
 * and leases count as reads: they are of this attempt, and what they led to is what counts.
 */
export function recordingDriver(driver: SqlDriver, record: AttemptRecord, scope: string): SqlDriver {
  const run = async (
    statement: SqlStatement,
    before: readonly SqlStatement[],
    read: () => Promise<SqlRows>,
  ): Promise<SqlRows> => {
    const name = sha256Hex(statement.text).slice(0, 16);
    const counted = JSON.stringify([scope, name]);
    const n = (record.counts.get(counted) ?? 0) + 1;
    record.counts.set(counted, n);
    const known = record.known.get(keyOf(scope, name, n));
    if (known !== undefined) return known;
    if (changesSomething(statement.text)) {
      return changeAndRecord(driver, record, { scope, name, n }, statement, before);
    }
    const result = await read();
    if (JSON.stringify(result).length <= RECORDED_MAX_CHARS) {
      record.unrecorded = [...record.unrecorded, { scope, name, n, result }];
    }
    return result;
  };
  return {
    query: (text, params) => run({ text, params, prepared: false }, [], () => driver.query(text, params)),
    tenantQuery: (tenantId, text, params) =>
      run({ text, params, prepared: false }, [asTenant(tenantId)], () =>
        driver.tenantQuery(tenantId, text, params),
      ),
    transact: () => Promise.reject(new Error('an attempt sends its statements one by one')),
    openSession: () => driver.openSession(),
    roundTripCount: () => driver.roundTripCount(),
    close: () => Promise.resolve(),
  };
}

const FUNCTION = /^\s*SELECT stepwell\.(\w+)_v\d+\(/;
const READS =
  /^(?:get|list|read|count|ping|peek|next|has|due|live|pending|event_wait|emit_record|instances|claim_(?:due|one|expired)$|renew_leases|release_leases)/;
const CHANGES = /\b(?:insert into|update|delete from)\b/i;

function changesSomething(text: string): boolean {
  const name = FUNCTION.exec(text)?.[1];
  return name === undefined ? CHANGES.test(text) : !READS.test(name);
}

async function changeAndRecord(
  driver: SqlDriver,
  record: AttemptRecord,
  { scope, name, n }: Omit<RecordedCall, 'result'>,
  statement: SqlStatement,
  before: readonly SqlStatement[],
): Promise<SqlRows> {
  const { tenantId, keyHash, seed } = record.attempt;
  const begin = { text: BEGIN, params: [tenantId, keyHash, seed], prepared: true };
  const reads = record.unrecorded;
  record.unrecorded = [];
  const more = [tenantId, seed, scope, name, n, JSON.stringify(reads)];
  try {
    const rows = await driver.transact([begin, ...before, recording(statement, more)]);
    return rowsOf(answerOf<readonly StoredRow[]>(rows));
  } catch (error) {
    record.unrecorded = [...reads, ...record.unrecorded];
    if (error instanceof SqlError && error.code === ENDED) {
      throw new StoreUnavailable('the request has ended without this attempt', { unknown: false });
    }
    if (!(error instanceof SqlError) || error.code !== MADE_BEFORE) throw error;
    await load(driver, record);
    const known = record.known.get(keyOf(scope, name, n));
    if (known === undefined) throw new Error('a call that was made before is not recorded');
    return known;
  }
}

/** The statement as it is, its rows handed to the record and answered from there. */
function recording({ text, params }: SqlStatement, more: readonly SqlParam[]): SqlStatement {
  const at = (index: number): string => `$${params.length + index}`;
  const rows = "(SELECT coalesce(json_agg(r), '[]') FROM r)";
  const recorded = `stepwell.record_call_v1(${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}, ${rows}, ${at(6)})`;
  return {
    text: `WITH r AS (\n${text}\n)\nSELECT ${recorded}`,
    params: [...params, ...more],
    prepared: false,
  };
}
