import type { SagaBlock } from '../../src/core/definition/document.ts';
import type { Json } from '../../src/core/json.ts';
import { absorbFailures, advanceList, endAs, skipRest, skipSubtree, type Walk } from './advance.ts';
import { cancelHard } from './cancel.ts';
import { setData } from './instance.ts';
import type { TreeNode } from './tree-node.ts';

/** 9.4. */
export function advanceTryCatch(walk: Walk, node: TreeNode): void {
  const [tried = [], caught = [], last = []] = node.lists;
  const { phase } = node;
  if (phase.name === 'first') {
    const end = advanceList(walk, tried);
    if (end === 'open') return;
    endTry(walk, node, end);
  }
  if (phase.name === 'catch') {
    const end = advanceList(walk, caught);
    if (end === 'open') return;
    phase.catchFailed = end === 'failed';
    phase.cancelled ||= end === 'cancelled';
    phase.name = 'finally';
  }
  const end = advanceList(walk, last);
  if (end === 'open') return;
  endTryCatch(node, end === 'failed');
}

/** [TRY-2]. A try that failed while a cancel drains has no catch to go to: nothing new is started (CAN-2). */
function endTry(walk: Walk, node: TreeNode, end: 'drained' | 'failed' | 'cancelled'): void {
  const { phase } = node;
  const caught = node.lists[1] ?? [];
  phase.name = 'finally';
  phase.tryFailed = end === 'failed';
  phase.cancelled ||= end === 'cancelled';
  if (end === 'drained' && !node.draining) for (const each of caught) skipSubtree(each);
  if (end === 'cancelled' || node.draining) for (const each of caught) cancelHard(walk, each);
  if (end !== 'failed') return;
  phase.error = {
    failed_blocks: (node.lists[0] ?? [])
      .filter(({ state }) => state === 'failed')
      .map(({ block }) => block.id),
    source: 'try_catch',
    block_id: node.block.id,
    errors: failuresBelow(node.lists[0] ?? []),
  };
  setData(walk.instance, '_error', phase.error);
  if (!node.draining) phase.name = 'catch';
}

/** [TRY-5]. */
function endTryCatch(node: TreeNode, finallyFailed: boolean): void {
  const { phase } = node;
  const isCaught = phase.tryFailed && !phase.catchFailed && !phase.cancelled;
  if (isCaught) for (const each of node.lists[0] ?? []) absorbFailures(each);
  if (finallyFailed || phase.catchFailed) endAs(node, 'failed');
  else endAs(node, phase.cancelled ? 'cancelled' : 'drained');
}

/**
 * Failed leaves in document order, as an `_error` object names them (TRY-4): those whose failure has moved up to here. A
 * for_each that cannot read its collection fails by itself, like a leaf.
 */
function failuresBelow(list: readonly TreeNode[]): Json[] {
  return list.flatMap((node): Json[] => {
    if (node.state !== 'failed' || node.absorbed) return [];
    const below = node.lists.flatMap(failuresBelow);
    if (node.error === null || node.block.type === 'saga') return below;
    const { message, code, details } = node.error;
    const own = {
      block_id: node.block.id,
      message,
      ...(code === undefined ? {} : { code }),
      ...(details === undefined ? {} : { details }),
    };
    return [own, ...below];
  });
}

/** 9.10. */
export function advanceSaga(walk: Walk, node: TreeNode, block: SagaBlock): void {
  if (node.phase.name === 'first' && !advanceActions(walk, node, block)) return;
  for (let step = node.phase.failedStep - 1; step >= 0; step -= 1) {
    const [action] = node.lists[2 * step] ?? [];
    const compensation = node.lists[2 * step + 1] ?? [];
    if (action?.state !== 'completed') continue;
    if (advanceList(walk, compensation) === 'open') return;
  }
  endRollback(node, block);
}

/** True when the rollback goes on from here. */
function advanceActions(walk: Walk, node: TreeNode, block: SagaBlock): boolean {
  const actions = block.steps.flatMap((_step, index) => node.lists[2 * index] ?? []);
  const compensations = block.steps.flatMap((_step, index) => node.lists[2 * index + 1] ?? []);
  const end = advanceList(walk, actions);
  if (end === 'open') return false;
  if (end === 'cancelled' || (node.draining && end === 'drained')) {
    for (const each of compensations) cancelHard(walk, each);
    endAs(node, 'cancelled');
    return false;
  }
  if (end === 'drained') {
    for (const each of compensations) skipSubtree(each);
    endAs(node, 'drained');
    return false;
  }
  const failedStep = actions.findIndex(({ state }) => state === 'failed');
  const action = actions[failedStep];
  if (action !== undefined && !node.draining) action.rolledBack = true;
  node.phase.failedStep = failedStep;
  node.error = action?.error ?? null;
  if (node.draining) {
    for (const each of compensations) skipRest(each);
    endAs(node, 'failed');
    return false;
  }
  node.phase.name = 'rollback';
  node.phase.error = {
    failed_step: block.steps[failedStep]?.id ?? '',
    source: 'saga',
    block_id: block.id,
    errors: failuresBelow(action === undefined ? [] : [action]),
  };
  setData(walk.instance, '_error', node.phase.error);
  for (const [index] of block.steps.entries()) {
    if (actions[index]?.state !== 'completed')
      for (const each of node.lists[2 * index + 1] ?? []) skipSubtree(each);
  }
  return true;
}

/** [SAGA-4], [SAGA-5]: a failed compensation has been absorbed by the rollback. */
function endRollback(node: TreeNode, block: SagaBlock): void {
  const failed = block.steps.flatMap((_step, index) =>
    (node.lists[2 * index + 1] ?? []).filter(({ state }) => state === 'failed'),
  );
  for (const compensation of failed) absorbFailures(compensation);
  if (node.error !== null) {
    const rollback = failed.length === 0 ? 'rolled_back' : 'partial_rollback';
    const ids = failed.map((compensation) => compensation.block.id);
    node.error = { ...node.error, details: { rollback, failed_compensations: ids } };
  }
  endAs(node, 'failed');
}
