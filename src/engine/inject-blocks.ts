import { jsonObject, type Json } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { checkInjection } from '../core/run/reshape/check-injection.ts';
import { storedInjection } from '../core/run/reshape/injection.ts';
import { acceptChange } from './accept-change.ts';
import type { Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface InjectRequest {
  readonly instanceId: string;
  readonly blocks: Json;
  /** Index in the effective root list, from 0; null, or beyond its end: at the end. */
  readonly position: number | null;
}

export interface Injected {
  readonly blockIds: readonly string[];
  readonly position: number | null;
  /** Injected root blocks of the instance so far. */
  readonly total: number;
}

/**
 * Injects blocks into the root list of an instance, in any state ([OP-9] to [OP-11]). They are run in their place; what
 * has run already is not run again. 404 unknown, 400 for blocks that break a rule.
 */
export async function injectBlocks(
  deps: UseCaseDeps,
  caller: Caller,
  { instanceId, blocks, position }: InjectRequest,
): Promise<Result<Injected, Refusal>> {
  const done = await acceptChange(deps, caller, instanceId, ({ plan }) => {
    const checked = checkInjection(plan, blocks, position);
    if (!checked.ok) {
      const details = checked.error.details.map((problem) => jsonObject(Object.entries(problem)));
      const { message } = checked.error;
      return Promise.resolve(err({ kind: 'invalid_argument', message, code: 'invalid_definition', details }));
    }
    const { id: _, ...stored } = storedInjection('', checked.value);
    const known = (plan.shape?.injections ?? []).reduce((sum, injection) => sum + injection.blocks.length, 0);
    const blockIds = checked.value.blocks.map(({ id }) => id);
    const answer = { blockIds, position, total: known + blockIds.length };
    return Promise.resolve(ok({ change: { kind: 'inject', ...stored }, answer }));
  });
  return done.ok ? ok(done.value.answer) : done;
}
