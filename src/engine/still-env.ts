import { validateAgainst } from '../core/definition/json-schema.ts';
import type { Env } from '../core/run/draft.ts';
import type { IdSource } from './ids.ts';

/** For a copy of a run that is only looked at or moved: nothing is called, drawn or resolved with it. */
export function stillEnv(ids: IdSource, now: number): Env {
  return {
    now,
    newId: () => ids.newId(),
    uuid: () => ids.newId(),
    random: () => 0,
    maxContextBytes: 0,
    maxOutputBytes: 0,
    validateAgainst,
    kindOf: () => 'effect',
    defaultsOf: () => ({}),
  };
}
