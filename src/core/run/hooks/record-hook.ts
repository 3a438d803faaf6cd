import type { Failure } from '../../failure.ts';
import { type Json, canonicalJson, utf8Bytes } from '../../json.ts';
import type { Answer } from '../advance.ts';
import type { Draft } from '../draft.ts';
import { errorObject } from '../failures.ts';
import type { TaskOutcome } from '../record.ts';
import type { HookTask, HooksPending } from './hooks-pending.ts';

/** [HOOK-3]: what became of a hook, and with the same commit the next one's turn. The state of the instance stays. */
export function finishHook(draft: Draft, hookId: string, answered: Answer['outcome']): void {
  const hooks = draft.record.hooks;
  if (hooks === undefined || hooks === null) return;
  const outcome = answered.ok && answered.injects !== undefined ? NO_INJECTION : answered;
  addHookRow(draft, { blockId: hookId, runNo: hooks.runNo }, outcome);
  if (outcome.ok) {
    if (outcome.outside !== undefined) draft.outside.add(outcome.outside);
    for (const { key, value } of outcome.writes) {
      draft.push('kv', value === undefined ? { key, deleted: true } : { key, value });
      draft.knowledge.setState(key, value);
    }
  }
  draft.countResult({ shielded: true });
  moveOn(draft, hooks);
}

/** The run has ended: nobody would run the blocks ([OP-12]). */
const NO_INJECTION = {
  ok: false,
  failure: { message: 'a cleanup hook cannot inject blocks', retryable: false, code: 'INVALID_BLOCKS' },
} as const;

/** The hook at the cursor has had its turn. */
export function moveOn(draft: Draft, hooks: HooksPending, more: Partial<HooksPending> = {}): void {
  const { called: _, sleepUntil: __, ...rest } = hooks;
  draft.instance.set({ hooks: { ...rest, ...more, next: (hooks.next ?? 0) + 1 } });
}

export function failHook(draft: Draft, hookId: string, failure: Failure): void {
  finishHook(draft, hookId, { ok: false, failure });
}

/** A worker reports what became of a hook, whenever it does ([HOOK-2]). False when the task is none of a hook. */
export function recordHookReport(draft: Draft, taskId: string, outcome: TaskOutcome): boolean {
  const hooks = draft.record.hooks;
  const task = hooks?.tasks.find((candidate) => candidate.taskId === taskId);
  if (hooks === undefined || hooks === null || task === undefined) return false;
  addHookRow(draft, task, outcome.ok ? outcome : { ok: false, failure: outcome });
  const tasks = hooks.tasks.filter((candidate) => candidate !== task);
  draft.instance.set({ hooks: tasks.length === 0 && hooks.next === null ? null : { ...hooks, tasks } });
  return true;
}

function addHookRow(
  draft: Draft,
  hook: Omit<HookTask, 'taskId'>,
  outcome: { readonly ok: true; readonly output: Json } | { readonly ok: false; readonly failure: Failure },
): void {
  const failure = outcome.ok ? tooLarge(draft, hook.blockId, outcome.output) : outcome.failure;
  draft.addRow({
    blockId: hook.blockId,
    iteration: '',
    kind: failure === null ? 'hook' : 'hook_error',
    attempt: 0,
    output:
      failure === null && outcome.ok
        ? outcome.output
        : { __error__: true, retryable: failure?.retryable ?? false, ...(failure && errorObject(failure)) },
    startedAt: null,
    ...(hook.runNo === draft.record.runNo ? {} : { runNo: hook.runNo }),
  });
}

function tooLarge(draft: Draft, hookId: string, output: Json): Failure | null {
  if (utf8Bytes(canonicalJson(output)) <= draft.env.maxOutputBytes) return null;
  return { message: `the result of ${hookId} is too large`, retryable: false, code: 'OUTPUT_TOO_LARGE' };
}
