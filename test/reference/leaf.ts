import { delayTarget } from '../../src/core/calendar/delay-target.ts';
import { nextOpening } from '../../src/core/calendar/send-window.ts';
import type { StepBlock } from '../../src/core/definition/document.ts';
import { evaluateExpression, isTruthy } from '../../src/core/expressions/evaluate.ts';
import { isJsonObject, type Json, member } from '../../src/core/json.ts';
import { isConcurrent } from './children.ts';
import { type Call, iterationOf, type TreeNode } from './tree-node.ts';
import { addRow, cacheKeyText, type Instance, setData, type Sim } from './instance.ts';
import { failLeaf, succeed } from './leaf-result.ts';
import { callPure } from './pure-handlers.ts';
import { permanent, resolve, scopeOf, templateScope } from './scope-of.ts';
import { isWorkerHandler, PURE_HANDLERS } from './world.ts';

/** The pipeline of 8.1, from the stage that the step has reached. It ends where a check defers, skips or fails. */
export function proceed(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const { leaf } = node;
  if (leaf.stage === 'when') {
    node.iteration = iterationOf(node);
    if (!passesWhen(instance, node, block)) return;
    leaf.stage = 'delay';
  }
  if (leaf.stage === 'delay') {
    if (waitsForDelay(sim, node, block)) return;
    leaf.stage = 'window';
  }
  if (leaf.stage === 'window') {
    if (waitsForWindow(sim, node, block)) return;
    leaf.deadlineFrom ??= sim.now;
    leaf.stage = 'gate';
  }
  if (leaf.stage === 'gate') {
    if (block.wait_for_input !== undefined && !leaf.gatePassed) {
      openGate(sim, instance, node, block);
      return;
    }
    leaf.stage = 'attempt';
  }
  if (waitsForWindow(sim, node, block)) return;
  attempt(sim, instance, node, block);
}

function passesWhen(instance: Instance, node: TreeNode, block: StepBlock): boolean {
  if (block.when === undefined) return true;
  const value = evaluateExpression(block.when, scopeOf(instance, node), 'strict');
  if (!value.ok) failLeaf(node, permanent('EXPRESSION_ERROR'));
  else if (isTruthy(value.value)) return true;
  else node.state = 'skipped';
  return false;
}

function waitsForDelay(sim: Sim, node: TreeNode, block: StepBlock): boolean {
  if (block.delay === undefined) return false;
  node.leaf.delayTarget ??= delayTarget({
    delay: block.delay,
    base: sim.now,
    timezone: 'UTC',
    holidays: null,
    random: () => 0.5,
  });
  return waitUntil(sim, node, 'delay', node.leaf.delayTarget);
}

function waitsForWindow(sim: Sim, node: TreeNode, block: StepBlock): boolean {
  if (block.send_window === undefined) return false;
  return waitUntil(sim, node, 'send_window', nextOpening(block.send_window, sim.now, 'UTC'));
}

function waitUntil(sim: Sim, node: TreeNode, reason: 'delay' | 'send_window', at: number): boolean {
  if (at <= sim.now) return false;
  wait(node, reason, at);
  return true;
}

function wait(node: TreeNode, reason: TreeNode['reason'], at: number | null): void {
  node.state = 'waiting';
  node.reason = reason;
  node.wakeAt = at;
}

function openGate(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const gate = block.wait_for_input;
  if (gate === undefined) return;
  const prompt = resolve(gate.prompt, templateScope(instance, node));
  if (!prompt.ok) {
    failLeaf(node, prompt.error);
    return;
  }
  node.leaf.prompt = prompt.value;
  node.leaf.gateOpenedAt = sim.now;
  // It expires when more than the timeout has passed (HI-9).
  wait(node, 'input', gate.timeout === undefined ? null : sim.now + gate.timeout + 1);
  const kept = instance.keptAnswers.filter((answer) => answer.block === block.id);
  if (kept.length === 0) return;
  const others = instance.keptAnswers.filter((answer) => answer.block !== block.id);
  instance.keptAnswers.splice(0, instance.keptAnswers.length, ...others);
  if (isConcurrent(node)) sim.tie ??= 'an answer that was there before its gate, beside other branches';
  // Each answer opens one gate (HI-7): behind the one that fits, the others wait for the next pass.
  const accepted = kept.findIndex(({ payload }) => answerGate(sim, instance, node, block, payload));
  if (accepted !== -1) instance.keptAnswers.push(...kept.slice(accepted + 1));
}

/** [HI-3], [HI-4]: true when the answer was accepted. The handler starts with the next look at the node. */
export function answerGate(
  sim: Sim,
  instance: Instance,
  node: TreeNode,
  block: StepBlock,
  payload: Json,
): boolean {
  const gate = block.wait_for_input;
  const value = member(payload, 'value');
  if (gate === undefined || typeof value !== 'string') return false;
  if (!gate.choices.some((choice) => choice.value === value)) return false;
  const comment = member(payload, 'comment');
  const keepsComment = gate.allow_comment && typeof comment === 'string' && comment.length <= 4000;
  const output = { value, _human_gate: true, ...(keepsComment ? { comment } : {}) };
  addRow(instance, node, { kind: 'gate', output, ref: null, attempt: 0 });
  setData(instance, gate.store_as ?? block.id, value);
  node.leaf.gatePassed = true;
  node.leaf.stage = 'attempt';
  node.reason = null;
  node.wakeAt = sim.now;
  return true;
}

/** 8.1, steps 6 to 11. */
function attempt(sim: Sim, instance: Instance, node: TreeNode, block: StepBlock): void {
  const scope = templateScope(instance, node);
  const params = resolve(block.params ?? {}, scope);
  const key = params.ok ? resolve(block.cache_key ?? null, scope) : params;
  if (!params.ok || !key.ok) {
    failLeaf(node, permanent('TEMPLATE_ERROR'));
    return;
  }
  const cacheKey = cacheKeyText(key.value);
  const cached = cacheKey === null ? undefined : instance.cache.get(cacheKey);
  if (cached !== undefined) {
    succeed(sim, instance, node, block, { output: cached, isWorker: false, cacheKey: null });
    return;
  }
  dispatch(sim, instance, node, { block, params: params.value, cacheKey });
}

interface Dispatch {
  readonly block: StepBlock;
  readonly params: Json;
  readonly cacheKey: string | null;
}

function dispatch(sim: Sim, instance: Instance, node: TreeNode, { block, params, cacheKey }: Dispatch): void {
  const start = (kind: Call['kind'], answer: Call['answer']): Call => {
    const call: Call = { kind, startedAt: sim.now, answer, cacheKey };
    node.leaf.call = call;
    node.state = kind === 'worker' ? 'waiting' : 'running';
    node.reason = kind === 'worker' ? 'worker' : kind === 'sleep' ? 'sleep' : null;
    node.wakeAt = null;
    return call;
  };
  if (PURE_HANDLERS.includes(block.handler)) {
    const call = start('in_process', null);
    sim.queue.push(() => {
      if (node.leaf.call === call) callPure(sim, instance, node, { block, params, cacheKey });
    });
    return;
  }
  if (block.handler === 'sleep') {
    const duration = isJsonObject(params) ? member(params, 'duration_ms') : null;
    const takeMs = typeof duration === 'number' ? duration : 100;
    start('sleep', { kind: 'ok', takeMs, output: { slept_ms: takeMs } });
    return;
  }
  const call = start(isWorkerHandler(block.handler) ? 'worker' : 'in_process', null);
  sim.begins.push(() => {
    if (node.leaf.call !== call) return;
    call.answer = nextAnswer(sim, instance, block.id);
    const { attempt: nth, iteration } = node;
    instance.effects.push({
      at: sim.now,
      handler: block.handler,
      block: block.id,
      attempt: nth,
      iteration,
      params,
    });
  });
}

/** The nth call of a block within its instance gets its nth answer; the last one repeats. */
function nextAnswer(sim: Sim, instance: Instance, blockId: string): Call['answer'] {
  const nth = instance.calls.get(blockId) ?? 0;
  instance.calls.set(blockId, nth + 1);
  const answers = sim.world.answers[blockId] ?? [];
  return answers[Math.min(nth, answers.length - 1)] ?? { kind: 'ok', takeMs: 1, output: null };
}
