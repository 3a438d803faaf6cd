import type { Settle } from '../changes.ts';
import type { Draft } from '../draft.ts';
import { traceEnd } from '../interceptors/traces.ts';

/** The settle of a turn after the end: the state stays, and what is left of the cleanup says when to look again. */
export function settleHooks(draft: Draft, at: number | null): Settle {
  const hooks = draft.record.hooks ?? null;
  const openWaits = hooks === null ? 0 : hooks.tasks.length;
  return { state: draft.state, nextFireAt: null, dueAt: at, openWaits, failure: null, afterEnd: true };
}

/** All hooks have had their turn: the trace of the failure comes last ([INT-4]); tasks of workers are still waited for. */
export function endHooks(draft: Draft): void {
  const hooks = draft.record.hooks ?? null;
  if (hooks === null || hooks.next === null) return;
  if (hooks.cause === 'on_failure') traceEnd(draft, 'on_failure');
  const { called: _, sleepUntil: __, error: ___, ...rest } = hooks;
  draft.instance.set({ hooks: hooks.tasks.length === 0 ? null : { ...rest, next: null } });
}
