import { takeBack } from '../core/run/advance.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { isTracked } from '../core/run/limits/tracked-handlers.ts';

/**
 * Of the leaves whose intents a commit has stored those that are called now: not what limits denied (RULINGS A32), and not
 * what has a breaker that opened meanwhile, as the same answer told; the next walk asks for that one ([CB-5]).
 */
export function callable(draft: Draft, ready: readonly Dispatch[]): readonly Dispatch[] {
  const granted = withoutDenied(draft, ready);
  if (draft.env.openBreakers === undefined || draft.env.openBreakers.size === 0) return granted;
  const shut = granted.filter((dispatch) => isShut(draft, dispatch));
  if (shut.length === 0) return granted;
  takeBack(draft, shut);
  return granted.filter((dispatch) => !shut.includes(dispatch));
}

function withoutDenied(draft: Draft, ready: readonly Dispatch[]): readonly Dispatch[] {
  if (draft.intents.denied.length === 0) return ready;
  const denied = new Set(draft.intents.denied.map(({ key }) => key));
  return ready.filter(({ frameKey }) => !denied.has(frameKey));
}

function isShut(draft: Draft, { handler, leaf }: Dispatch): boolean {
  if (draft.env.openBreakers?.has(handler) !== true || draft.record.dryRun) return false;
  return isTracked(handler) && leaf.taken?.handler === undefined;
}
