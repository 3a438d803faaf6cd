import type { JsonObject } from '../../json.ts';

/**
 * What cleanup there still is after the end of a run ([HOOK-4]). It is written in the terminal transaction and moves on
 * with each hook, in the commit that records the hook: so every hook is recorded once, wherever the process dies. While
 * it is there the instance can be claimed although it has ended.
 */
export interface HooksPending {
  readonly cause: 'on_failure' | 'on_cancel';
  /** The run that ended: rows and keys of its hooks belong to it, also when a retry has begun another one. */
  readonly runNo: number;
  readonly runId: string;
  /** Index of the hook that comes next; null when all have had their turn. */
  readonly next: number | null;
  /** Present while the next hook may be running: its loss speaks against the instance (RULINGS A18). */
  readonly called?: true;
  /** When a `sleep` that is the next hook ends. */
  readonly sleepUntil?: number;
  /** What `data._error` reads as ([CERR-4]); absent after a cancel. */
  readonly error?: JsonObject;
  /** Hooks that workers have; nobody waits for them ([HOOK-2]). */
  readonly tasks: readonly HookTask[];
}

export interface HookTask {
  readonly taskId: string;
  readonly blockId: string;
  readonly runNo: number;
}

/** True while there is something to do without anybody's report. */
export function hasHooksToRun(hooks: HooksPending | null | undefined): boolean {
  return hooks !== null && hooks !== undefined && hooks.next !== null;
}
