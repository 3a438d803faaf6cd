import type { Instance } from './instance.ts';
import { isTerminal, nodesOf, type TreeNode } from './tree-node.ts';

/** An instant at which something happens by itself. */
export interface Wake {
  readonly at: number;
  readonly kind: 'answer' | 'timeout' | 'deadline' | 'gate' | 'timer';
  readonly instance: Instance;
  readonly node: TreeNode;
}

/**
 * While an instance is paused, handlers and workers still answer and attempts in process still time out; timers of the
 * engine stand still.
 */
export function wakesOf(instance: Instance): Wake[] {
  if (instance.terminal !== null) return [];
  return [...nodesOf(instance.roots)].flatMap((node) => {
    if (isTerminal(node.state) || node.state === 'pending') return [];
    return instantsOf(instance, node).map((wake) => ({ ...wake, instance, node }));
  });
}

type Instant = Pick<Wake, 'at' | 'kind'>;

function instantsOf({ paused }: Instance, node: TreeNode): Instant[] {
  const { block, leaf } = node;
  const { call } = leaf;
  const instants: Instant[] = [];
  const isInProcess = call?.kind === 'in_process';
  if (call !== null && call.answer !== null && call.answer.kind !== 'silent') {
    if (call.kind !== 'sleep' || !paused) {
      instants.push({ at: call.startedAt + call.answer.takeMs, kind: 'answer' });
    }
  }
  if (block.type === 'step' && (isInProcess || !paused)) {
    if (block.timeout !== undefined && call !== null) {
      instants.push({ at: call.startedAt + block.timeout, kind: 'timeout' });
    }
    if (block.deadline !== undefined && leaf.deadlineFrom !== null) {
      instants.push({ at: leaf.deadlineFrom + block.deadline, kind: 'deadline' });
    }
  }
  if (node.wakeAt !== null && !paused) {
    instants.push({ at: node.wakeAt, kind: node.reason === 'input' && !leaf.gatePassed ? 'gate' : 'timer' });
  }
  return instants;
}
