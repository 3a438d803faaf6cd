import type { Failure } from '../../core/failure.ts';
import {
  canonicalJson,
  compareCodePoints,
  isJsonObject,
  type Json,
  type JsonObject,
  member,
  utf8Bytes,
} from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { StateReader, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { invalidParams, requiredText } from './params.ts';

/** Limits of an instance's key/value store (handlers.md 4). */
const MAX_KEYS = 10_000;
const MAX_KEY_BYTES = 512;
const MAX_VALUE_BYTES = 1024 * 1024;

/** Keys that begin so belong to the engine (handlers.md 1.4). */
const RESERVED_PREFIX = '__';

/** `set_state`: stores `value` under `key` in the commit of the step [H-5]. Result `{"key", "value"}`. */
export const setStateHandler: StepHandler = {
  name: 'set_state',
  kind: 'pure',
  checkParams: (params) => failureOf(setParams(params)),
  run: async ({ params, state }) => {
    const parsed = setParams(params);
    if (!parsed.ok) return failed(parsed.error);
    const { key, value } = parsed.value;
    const full = await storageOutcome(() => roomFailure('set_state', state, [key]));
    if (full !== null) return failed(full);
    return { ok: true, output: { key, value }, writes: [{ type: 'state_set', key, value }] };
  },
};

/** `get_state`: the value under `key`, null when there is none; reserved keys read as null. */
export const getStateHandler: StepHandler = {
  name: 'get_state',
  kind: 'pure',
  checkParams: (params) => failureOf(keyParam('get_state', params)),
  run: async ({ params, state }) => {
    const key = keyParam('get_state', params);
    if (!key.ok) return failed(key.error);
    if (isReserved(key.value)) return { ok: true, output: { key: key.value, value: null } };
    const read = await storageRead(() => state.get(key.value));
    if (!read.ok) return failed(read.error);
    return { ok: true, output: { key: key.value, value: read.value ?? null } };
  },
};

/** `delete_state`: removes `key`; `deleted` is true also when there was none. */
export const deleteStateHandler: StepHandler = {
  name: 'delete_state',
  kind: 'pure',
  checkParams: (params) => failureOf(writableKey('delete_state', params)),
  run: ({ params }) => {
    const key = writableKey('delete_state', params);
    if (!key.ok) return failed(key.error);
    return {
      ok: true,
      output: { key: key.value, deleted: true },
      writes: [{ type: 'state_delete', key: key.value }],
    };
  },
};

/** `merge_state`: stores every member of `values`, all or nothing. Result `{"merged_keys"}` in code point order. */
export const mergeStateHandler: StepHandler = {
  name: 'merge_state',
  kind: 'pure',
  checkParams: (params) => failureOf(mergeParams(params)),
  run: async ({ params, state }) => {
    const values = mergeParams(params);
    if (!values.ok) return failed(values.error);
    const entries = Object.entries(values.value).sort(([left], [right]) => compareCodePoints(left, right));
    const keys = entries.map(([key]) => key);
    const full = await storageOutcome(() => roomFailure('merge_state', state, keys));
    if (full !== null) return failed(full);
    const writes = entries.map(([key, value]) => ({ type: 'state_set' as const, key, value }));
    return { ok: true, output: { merged_keys: keys }, writes };
  },
};

function setParams(params: Json): Result<{ key: string; value: Json }, Failure> {
  const key = writableKey('set_state', params);
  if (!key.ok) return key;
  const value = member(params, 'value');
  if (value === undefined) return err(invalidParams('set_state', 'value', 'is required (it may be null)'));
  const large = valueFailure('set_state', key.value, value);
  return large === null ? ok({ key: key.value, value }) : err(large);
}

function mergeParams(params: Json): Result<JsonObject, Failure> {
  const values = member(params, 'values');
  if (!isJsonObject(values)) return err(invalidParams('merge_state', 'values', 'must be an object'));
  for (const [key, value] of Object.entries(values)) {
    const failure =
      keyFailure('merge_state', key) ??
      reservedFailure('merge_state', key) ??
      valueFailure('merge_state', key, value);
    if (failure !== null) return err(failure);
  }
  return ok(values);
}

function keyParam(handler: string, params: Json): Result<string, Failure> {
  const key = requiredText(handler, params, 'key');
  if (!key.ok) return key;
  const failure = keyFailure(handler, key.value);
  return failure === null ? key : err(failure);
}

function writableKey(handler: string, params: Json): Result<string, Failure> {
  const key = keyParam(handler, params);
  if (!key.ok) return key;
  const failure = reservedFailure(handler, key.value);
  return failure === null ? key : err(failure);
}

function keyFailure(handler: string, key: string): Failure | null {
  const bytes = utf8Bytes(key);
  if (bytes >= 1 && bytes <= MAX_KEY_BYTES) return null;
  return invalidParams(handler, 'key', `must have 1 to ${MAX_KEY_BYTES} bytes, this one has ${bytes}`);
}

function reservedFailure(handler: string, key: string): Failure | null {
  if (!isReserved(key)) return null;
  return {
    message: `${handler}: keys that begin with ${RESERVED_PREFIX} are reserved`,
    retryable: false,
    code: 'RESERVED_KEY',
  };
}

function isReserved(key: string): boolean {
  return key.startsWith(RESERVED_PREFIX);
}

function valueFailure(handler: string, key: string, value: Json): Failure | null {
  const bytes = utf8Bytes(canonicalJson(value));
  if (bytes <= MAX_VALUE_BYTES) return null;
  return limitFailure(
    `${handler}: the value of ${key} has ${bytes} bytes, at most ${MAX_VALUE_BYTES} are allowed`,
  );
}

/** The failure when storing `keys` would exceed the number of keys. Only looks at single keys when it may be close. */
async function roomFailure(
  handler: string,
  state: StateReader,
  keys: readonly string[],
): Promise<Failure | null> {
  if (keys.length > MAX_KEYS) return tooManyKeys(handler);
  const count = await state.count();
  if (count + keys.length <= MAX_KEYS) return null;
  let total = count;
  for (const key of keys) {
    if ((await state.get(key)) === undefined) total += 1;
    if (total > MAX_KEYS) return tooManyKeys(handler);
  }
  return null;
}

function tooManyKeys(handler: string): Failure {
  return limitFailure(`${handler}: an instance may store at most ${MAX_KEYS} keys`);
}

function limitFailure(message: string): Failure {
  return { message, retryable: false, code: 'STATE_LIMIT' };
}

/** Reading the store may lose the connection: that is worth another try [H-4]. */
async function storageRead<T>(read: () => Promise<T>): Promise<Result<T, Failure>> {
  try {
    return ok(await read());
  } catch {
    // The driver's text is left out: it may name hosts and users of the database.
    return err({ message: 'the state store could not be read', retryable: true, code: 'STORAGE_ERROR' });
  }
}

async function storageOutcome(check: () => Promise<Failure | null>): Promise<Failure | null> {
  const outcome = await storageRead(check);
  return outcome.ok ? outcome.value : outcome.error;
}

function failureOf(result: Result<unknown, Failure>): Failure | null {
  return result.ok ? null : result.error;
}

function failed(failure: Failure): StepOutcome {
  return { ok: false, failure };
}
