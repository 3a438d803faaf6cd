import type { Block, StepBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import type { Json } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Dispatch } from '../env.ts';
import { freshLeaf } from '../leaf/fresh-leaf.ts';
import { parseSleep } from '../leaf/sleep.ts';
import { stubOf } from '../leaf/stub.ts';
import { blockReferences } from '../plan.ts';
import { hookContext, hookScope, hookViewScope } from './hook-scope.ts';
import type { HooksPending } from './hooks-pending.ts';
import { failHook, finishHook, moveOn } from './record-hook.ts';

/** Bound of a hook that names none ([HOOK-2]). */
const HOOK_TIMEOUT_MS = 30_000;
/** After so long it is decided anew who executes a hook whose handler this process lacks (RULINGS B8). */
const LEFT_TO_OTHERS_MS = 5_000;

export type HookStep =
  | { readonly kind: 'call'; readonly dispatch: Dispatch }
  /** What is noted as a need has to be read first. */
  | { readonly kind: 'read' }
  /** The hook cannot run here and now. */
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'over' };

/**
 * Goes through the cleanup list as far as nobody has to be called ([HOOK-1], [HOOK-2]): what is passed over, what fails
 * before its call, and what workers get. `again`: a turn that was lost may have called the hook at the cursor.
 */
export function nextHook(draft: Draft, again: boolean): HookStep {
  for (;;) {
    const hooks = draft.record.hooks;
    if (hooks === undefined || hooks === null || hooks.next === null) return { kind: 'over' };
    const block = (draft.plan.document[hooks.cause] ?? [])[hooks.next];
    if (block === undefined) return { kind: 'over' };
    const step = block.type === 'step' ? lookAt(draft, hooks, block, again) : passOver(draft, hooks, block);
    if (step !== 'next') return step;
  }
}

function passOver(draft: Draft, hooks: HooksPending, block: Block): 'next' {
  const message = `${block.id} is a ${block.type}: only steps run as cleanup hooks`;
  draft.push('logs', { blockId: block.id, at: draft.env.now, level: 'warn', message });
  moveOn(draft, hooks);
  return 'next';
}

function lookAt(draft: Draft, hooks: HooksPending, block: StepBlock, again: boolean): HookStep | 'next' {
  if (!draft.knowledge.covers(blockReferences(block))) return { kind: 'read' };
  if (block.when !== undefined) {
    const guard = evaluateExpression(block.when, hookScope(draft, hooks), 'strict');
    if (!guard.ok) return fails(draft, block, 'EXPRESSION_ERROR', guard.error.message);
    if (!isTruthy(guard.value)) {
      moveOn(draft, hooks);
      return 'next';
    }
  }
  const resolved = resolveTemplates(block.params ?? {}, hookViewScope(draft, hooks, block));
  if (!resolved.ok) return fails(draft, block, 'TEMPLATE_ERROR', resolved.error.message);
  return hand(draft, hooks, block, resolved.value ?? {}, again);
}

function fails(draft: Draft, block: StepBlock, code: string, message: string): 'next' {
  failHook(draft, block.id, { message, retryable: false, code });
  return 'next';
}

/** Hands the hook to who executes it, as 8.1 does for steps. */
function hand(
  draft: Draft,
  hooks: HooksPending,
  block: StepBlock,
  params: Json,
  again: boolean,
): HookStep | 'next' {
  if (block.handler === 'sleep') return sleep(draft, hooks, block, parseSleep(params));
  const kind = draft.env.kindOf(block.handler);
  switch (kind) {
    case 'elsewhere':
      return { kind: 'later', at: draft.env.now + LEFT_TO_OTHERS_MS };
    case 'unavailable':
      return fails(
        draft,
        block,
        'HANDLER_NOT_AVAILABLE',
        `the handler ${block.handler} is not available in this release`,
      );
    case 'worker':
      if (draft.record.dryRun) {
        finishHook(draft, block.id, { ok: true, output: stubOf(block.handler, params), writes: [] });
      } else giveToWorker(draft, hooks, block, params);
      return 'next';
    case 'pure':
    case 'effect':
      return { kind: 'call', dispatch: callOf(draft, hooks, block, params, again) };
  }
}

function sleep(draft: Draft, hooks: HooksPending, block: StepBlock, durationMs: number): HookStep | 'next' {
  const { now } = draft.env;
  const boundMs = Math.min(durationMs, block.timeout ?? HOOK_TIMEOUT_MS);
  const passes = draft.record.dryRun && draft.record.dryRunRealTime !== true;
  const until = hooks.sleepUntil ?? now + (passes ? 0 : boundMs);
  if (until > now) {
    if (hooks.sleepUntil === undefined) draft.instance.set({ hooks: { ...hooks, sleepUntil: until } });
    return { kind: 'later', at: until };
  }
  finishHook(draft, block.id, { ok: true, output: { slept_ms: boundMs }, writes: [] });
  return 'next';
}

/** [HOOK-2]: nobody waits for the result; it is stored when it comes. */
function giveToWorker(draft: Draft, hooks: HooksPending, block: StepBlock, params: Json): void {
  const taskId = draft.createTask({
    blockId: block.id,
    // Beside the tasks of blocks with the same id, and beside one that a worker still has of an earlier end.
    iteration: `~${hooks.cause}:${hooks.runNo}`,
    handlerName: block.handler,
    queueName: block.queue_name ?? null,
    params,
    context: { ...hookContext(draft, hooks, block) },
    attempt: 0,
    timeoutMs: block.timeout ?? null,
    idempotencyKey: keyOf(draft, hooks, block),
    previousTaskId: null,
    ofHook: true,
  });
  const task = { taskId, blockId: block.id, runNo: hooks.runNo };
  moveOn(draft, hooks, { tasks: [...hooks.tasks, task] });
}

/** Cleanup lists have id spaces of their own: the cause stands where a step has its pass ([IDEM-1]). */
function keyOf(draft: Draft, hooks: HooksPending, block: StepBlock): string {
  return `${draft.record.id}:${hooks.runId}:${block.id}:${hooks.cause}`;
}

function callOf(draft: Draft, hooks: HooksPending, block: StepBlock, params: Json, again: boolean): Dispatch {
  return {
    frameKey: '',
    blockId: block.id,
    iteration: '',
    handler: block.handler,
    params,
    attempt: 0,
    redelivery: again,
    pure: false,
    timeoutMs: block.timeout ?? HOOK_TIMEOUT_MS,
    shielded: true,
    context: () => hookContext(draft, hooks, block),
    idempotencyKey: keyOf(draft, hooks, block),
    leaf: freshLeaf(draft.env.now),
    intentFirst: false,
  };
}
