import { isJsonObject, type Json, member } from '../../src/core/json.ts';
import { cancelHard, requestCancel } from './cancel.ts';
import { closeInstance } from './children.ts';
import { type Instance, mergeData, type Sim, stateOf } from './instance.ts';
import { answerGate } from './leaf.ts';
import { retryInstance } from './retry.ts';
import { nodesOf, type TreeNode } from './tree-node.ts';
import type { Happening, SignalType } from './world.ts';

/** What arrives from outside (16, 17, 20.1, CTX-3, INS-12). What the state forbids is refused and has no effect. */
export function applyHappening(sim: Sim, instance: Instance, happening: Happening): void {
  if (happening.kind === 'retry') {
    if (instance.terminal === 'failed') retryInstance(sim, instance);
    return;
  }
  if (happening.kind === 'patch_context') {
    if (happening.mode === 'replace') instance.data = happening.data;
    else mergeData(instance, happening.data);
    return;
  }
  // A patch of a failed instance to `scheduled` is a retry (http-api.md 6.1).
  if (happening.kind === 'set_state' && happening.state === 'scheduled' && instance.terminal === 'failed') {
    retryInstance(sim, instance);
    return;
  }
  if (instance.terminal !== null) return;
  if (happening.kind === 'signal') applySignal(sim, instance, happening.type, happening.payload);
  else applyState(sim, instance, happening.state);
}

function applyState(sim: Sim, instance: Instance, state: 'cancelled' | 'paused' | 'scheduled'): void {
  if (state === 'paused') pause(instance);
  if (state === 'scheduled') instance.paused = false;
  if (state !== 'cancelled') return;
  sim.tie ??= unsettled(instance);
  for (const root of instance.roots) cancelHard({ sim, instance }, root);
  instance.terminal = 'cancelled';
  closeInstance(sim, instance);
}

/**
 * What a command that takes over at once cannot see: the route that was chosen, or the pass that a poll began, in the very
 * walk that began the first call of a turn is stored with the result of that call (RULINGS A22); and whether a failure had
 * moved up in a pause.
 */
function unsettled(instance: Instance): string | null {
  const nodes = [...nodesOf(instance.roots)];
  if (instance.paused && nodes.some(({ state }) => state === 'failed'))
    return 'a failure, a pause and a cancel';
  const hidesPlace = ({ leaf, parent }: TreeNode): boolean => {
    for (let up = parent; up !== null; up = up.parent) {
      const { block, enteredAt, pass } = up;
      if (block.type === 'router' && enteredAt === leaf.call?.startedAt) return true;
      const isPolled = block.type === 'loop' && (block.poll_interval ?? 0) > 0;
      if (isPolled && pass.openedAt === leaf.call?.startedAt) return true;
    }
    return false;
  };
  const called = nodes.filter(({ leaf }) => leaf.call?.kind === 'in_process');
  return called.some(hidesPlace) ? 'a place that nothing has stored yet' : null;
}

/** While a cancel drains, the state is running, scheduled or waiting (CAN-5): a pause has no effect any more. */
function pause(instance: Instance): void {
  if (instance.cancelRequested) return;
  if (stateOf(instance) === 'scheduled' || stateOf(instance) === 'running') instance.paused = true;
}

function applySignal(sim: Sim, instance: Instance, type: SignalType, payload: Json): void {
  if (typeof type === 'object') return applyCustom(sim, instance, type.custom, payload);
  switch (type) {
    case 'pause':
      return pause(instance);
    case 'resume':
      instance.paused = false;
      return;
    case 'cancel':
      return requestCancel(sim, instance);
    case 'update_context': {
      const data = member(payload, 'data');
      if (isJsonObject(data)) mergeData(instance, data);
      return;
    }
  }
}

/** [HI-2], [HI-3], [HI-6]: an answer to an open gate, or one that is kept until its gate is reached. */
function applyCustom(sim: Sim, instance: Instance, name: string, payload: Json): void {
  const id = /^human_input:(.+)$/.exec(name)?.[1];
  const node = [...nodesOf(instance.roots)].find(({ block }) => block.id === id);
  if (node?.block.type !== 'step' || node.block.wait_for_input === undefined) return;
  const isOpen = node.state === 'waiting' && node.reason === 'input' && !node.leaf.gatePassed;
  if (isOpen) answerGate(sim, instance, node, node.block, payload);
  // It may be meant for the next pass: the node that has ended here is reached again.
  else instance.keptAnswers.push({ block: node.block.id, payload });
}
