import { validateAgainst } from '../../src/core/definition/json-schema.ts';
import type { StepBlock } from '../../src/core/definition/document.ts';
import type { Failure } from '../../src/core/failure.ts';
import { isJsonObject, type Json, member } from '../../src/core/json.ts';
import { addRow, type Instance, mergeData, type Sim } from './instance.ts';
import { permanent, resolve, templateScope, truthy } from './scope-of.ts';
import type { Call, TreeNode } from './tree-node.ts';

export interface Success {
  readonly output: Json;
  readonly isWorker: boolean;
  readonly cacheKey: string | null;
}

/** Ends what the leaf was waiting for: task closed, timers gone, handler no longer listened to. */
export function quiet(node: TreeNode): void {
  node.leaf.call = null;
  node.reason = null;
  node.wakeAt = null;
}

export function failLeaf(node: TreeNode, failure: Failure): void {
  quiet(node);
  node.state = 'failed';
  node.error = failure;
}

/** 8.10, 8.11: what a result leads to. */
export function succeed(
  sim: Sim,
  instance: Instance,
  node: TreeNode,
  block: StepBlock,
  success: Success,
): void {
  const { output } = success;
  const violations = block.output_schema === undefined ? [] : validateAgainst(block.output_schema, output);
  if (violations.length > 0) {
    const details = { violations: violations.map(({ pointer, message }) => ({ pointer, message })) };
    const failure = { ...permanent('OUTPUT_CONTRACT_VIOLATION'), details };
    failAttempt(sim, instance, node, block, { failure, isWorker: false });
    return;
  }
  quiet(node);
  node.state = 'completed';
  addRow(instance, node, { kind: 'result', output, ref: null, attempt: node.attempt });
  if (success.isWorker && isJsonObject(output)) mergeData(instance, output);
  if (success.cacheKey !== null) instance.cache.set(success.cacheKey, output);
}

/** 15.2: what a failed attempt leads to. */
export function failAttempt(
  sim: Sim,
  instance: Instance,
  node: TreeNode,
  block: StepBlock,
  { failure, isWorker }: { readonly failure: Failure; readonly isWorker: boolean },
): void {
  const { deadlineFrom } = node.leaf;
  // Timers stand still in a pause; a failure that comes after the deadline is the breach all the same.
  if (deadlineFrom !== null && sim.now >= deadlineFrom + (block.deadline ?? Infinity)) {
    breachDeadline(sim, instance, node, block);
    return;
  }
  if (!isRetried(instance, node, block, failure)) {
    failLeaf(node, failure);
    return;
  }
  quiet(node);
  node.error = failure;
  node.attempt += 1;
  node.state = 'waiting';
  node.reason = 'retry';
  node.leaf.stage = 'attempt';
  // A new task of a worker appears no sooner than 150 ms later (RULINGS B9).
  node.wakeAt = sim.now + Math.max(backoff(block, node.attempt), isWorker ? 150 : 0);
}

/** [RET-1] to [RET-5]. */
function isRetried(instance: Instance, node: TreeNode, block: StepBlock, failure: Failure): boolean {
  const policy = block.retry;
  if (policy === undefined || !failure.retryable || node.attempt + 1 >= policy.max_attempts) return false;
  const codes = ['error_code', 'code', 'status'].map((name) => member(failure.details, name));
  const named = [...codes, failure.code].flatMap((code) =>
    typeof code === 'string' || typeof code === 'number' ? [String(code)] : [],
  );
  if (policy.non_retryable_codes?.some((code) => named.includes(code)) === true) return false;
  const error = {
    message: failure.message,
    details: failure.details ?? null,
    code: failure.code ?? null,
  };
  return policy.retry_if === undefined || truthy(instance, node, policy.retry_if, error);
}

/** Milliseconds before attempt `nth`, counted from 1 (15.2). */
function backoff(block: StepBlock, nth: number): number {
  const policy = block.retry;
  if (policy === undefined) return 0;
  const product = policy.initial_backoff * policy.backoff_multiplier ** (nth - 1);
  return Math.floor(Math.min(product, policy.max_backoff));
}

/** [TO-2]. */
export function timeOut(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const failure = { message: 'TIMEOUT', retryable: true, code: 'TIMEOUT' };
  failAttempt(sim, instance, node, block, { failure, isWorker: node.leaf.call?.kind === 'worker' });
}

/** What has fallen due at a step that waits or sleeps: its deadline first, whatever else was due before it. */
export function expire(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const { leaf } = node;
  const { call } = leaf;
  if (node.state === 'pending') return;
  const isPast = (from: number, duration: number | undefined): boolean =>
    duration !== undefined && from + duration <= sim.now;
  if (leaf.deadlineFrom !== null && isPast(leaf.deadlineFrom, block.deadline)) {
    breachDeadline(sim, instance, node, block);
  } else if (call !== null && isPast(call.startedAt, timeLimit(block, call))) {
    timeOut(sim, instance, node, block);
  } else if (call?.kind === 'sleep' && call.answer?.kind === 'ok') {
    const { takeMs, output } = call.answer;
    const { cacheKey } = call;
    if (isPast(call.startedAt, takeMs))
      succeed(sim, instance, node, block, { output, isWorker: false, cacheKey });
  } else if (node.reason === 'input' && !leaf.gatePassed && node.wakeAt !== null && node.wakeAt <= sim.now) {
    expireGate(sim, instance, node, block);
  }
}

/** A sleep that ends before its timeout cannot time out, however late anybody looks at it (SLEEP-3). */
function timeLimit(block: StepBlock, { kind, answer }: Call): number | undefined {
  const outlasts = kind === 'sleep' && answer?.kind === 'ok' && answer.takeMs < (block.timeout ?? 0);
  return outlasts ? undefined : block.timeout;
}

/** [DL-3]. */
export function breachDeadline(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const deadline = block.deadline ?? 0;
  const elapsed = sim.now - (node.leaf.deadlineFrom ?? sim.now);
  const output = { _error: 'sla_deadline_breached', _deadline_ms: deadline, _elapsed_ms: elapsed };
  addRow(instance, node, { kind: 'breach', output, ref: null, attempt: node.attempt });
  const action = block.on_deadline_breach;
  if (action !== undefined) {
    const keys = { block_id: block.id, instance_id: 'self', elapsed_ms: elapsed, deadline_ms: deadline };
    const params = resolve(action.params ?? {}, templateScope(instance, node));
    const own = params.ok && isJsonObject(params.value) ? params.value : {};
    if (params.ok) pushEscalation(sim, instance, action.handler, { ...keys, ...own, _breach: keys });
  }
  failLeaf(node, permanent('DEADLINE_EXCEEDED'));
}

/** [HI-9] to [HI-11]. */
function expireGate(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const gate = block.wait_for_input;
  if (gate?.escalation_handler === undefined) {
    failLeaf(node, permanent('HUMAN_INPUT_TIMEOUT'));
    return;
  }
  const seconds = Math.floor((gate.timeout ?? 0) / 1000);
  const output = {
    _escalated: true,
    _escalation_handler: gate.escalation_handler,
    _timeout_seconds: seconds,
  };
  addRow(instance, node, { kind: 'gate', output, ref: null, attempt: 0 });
  pushEscalation(sim, instance, gate.escalation_handler, {
    block_id: block.id,
    instance_id: 'self',
    prompt: node.leaf.prompt,
    choices: gate.choices.map(({ label, value }) => ({ label, value })),
    timeout_seconds: seconds,
  });
  quiet(node);
  node.state = 'completed';
}

/** Calls of escalation handlers belong to no attempt. */
function pushEscalation(sim: Sim, instance: Instance, handler: string, params: Json): void {
  instance.effects.push({ at: sim.now, handler, block: '', attempt: 0, iteration: '', params });
}
