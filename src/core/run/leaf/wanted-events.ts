import type { Failure } from '../../failure.ts';
import { type Json, member, utf8Bytes } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Join, WantedEvents } from '../outside.ts';

/** Longest texts that events carry; a wait for longer ones would never be matched. */
export const EVENT_NAME_BYTES_MAX = 255;
export const CORRELATION_KEY_BYTES_MAX = 512;

/** Params of `wait_for_event` (handlers.md 6.4). */
export function parseWantedEvents(params: Json): Result<WantedEvents, Failure> {
  const names = parseNames(member(params, 'events'));
  if (names === null) return invalid('events', 'must be a name or a list of names, none of them empty');
  if (names.some((name) => utf8Bytes(name) > EVENT_NAME_BYTES_MAX))
    return invalid('events', `must not have names over ${EVENT_NAME_BYTES_MAX} bytes`);
  const key = member(params, 'correlation_key');
  if (typeof key !== 'string' || key.trim() === '')
    return invalid('correlation_key', 'must be a text that is not blank');
  if (utf8Bytes(key) > CORRELATION_KEY_BYTES_MAX)
    return invalid('correlation_key', `must not exceed ${CORRELATION_KEY_BYTES_MAX} bytes`);
  const join = member(params, 'join') ?? 'all';
  if (!isJoin(join)) return invalid('join', 'must be all, any or count');
  const needed = neededOf(join, names, member(params, 'count'));
  if (needed === null) return invalid('count', 'must be a whole number of at least 1 with join count');
  return ok({ names, correlationKey: key, join, needed });
}

function parseNames(value: Json | undefined): readonly string[] | null {
  const list = Array.isArray(value) ? value : [value];
  const names = list.filter((name) => typeof name === 'string' && name !== '');
  return names.length === 0 || names.length < list.length ? null : [...new Set(names)];
}

function isJoin(value: Json): value is Join {
  return value === 'all' || value === 'any' || value === 'count';
}

function neededOf(join: Join, names: readonly string[], count: Json | undefined): number | null {
  if (join === 'any') return 1;
  if (join === 'all') return names.length;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 1 && count <= 100_000
    ? count
    : null;
}

function invalid(param: string, problem: string): Result<never, Failure> {
  return err({ message: `wait_for_event: ${param} ${problem}`, retryable: false, code: 'INVALID_PARAMS' });
}
