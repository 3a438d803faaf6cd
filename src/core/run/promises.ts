import type { Frame, WaitReason } from './frame.ts';
import type { HooksPending } from './hooks/hooks-pending.ts';
import { type InstanceState, isTerminal } from './states.ts';

/** What the promise is judged on: any store can read it in one go (`getFrontier` has this shape). */
export interface PromiseSnapshot {
  readonly instance: {
    readonly id: string;
    readonly state: InstanceState;
    readonly dueAt: number | null;
    readonly leaseUntil: number | null;
    readonly openWaits: number;
    readonly hooks?: HooksPending | null;
  };
  readonly frames: readonly Frame[];
  readonly openTasks: readonly { readonly id: string }[];
}

const OUTSIDE: readonly (WaitReason | null)[] = ['worker', 'input', 'child', 'event'];

/**
 * DESIGN promise 2 (RULINGS A27, B7): no run is ever silently stuck. Answers what is broken, in words; empty when the
 * instance has a due time, a lease, an open wait that something outside can end, an explicit pause, or has ended.
 */
export function checkPromises(snapshot: PromiseSnapshot): readonly string[] {
  const { instance } = snapshot;
  if (isTerminal(instance.state)) return brokenTerminal(snapshot);
  if (instance.leaseUntil !== null || instance.dueAt !== null) return [];
  switch (instance.state) {
    case 'running':
      return [`${instance.id} is running without a lease and without a wake`];
    case 'scheduled':
      return [`${instance.id} is scheduled without a due time`];
    case 'waiting':
      return brokenWait(snapshot);
    case 'paused':
      return [];
    default:
      return instance.state satisfies never;
  }
}

function brokenTerminal({ instance, openTasks }: PromiseSnapshot): readonly string[] {
  if ((instance.hooks ?? null) !== null) return brokenCleanup(instance, openTasks.length);
  const broken: string[] = [];
  if (instance.dueAt !== null) broken.push(`${instance.id} is ${instance.state} with a due time`);
  if (instance.openWaits !== 0) broken.push(`${instance.id} is ${instance.state} with open waits`);
  if (openTasks.length > 0) broken.push(`${instance.id} is ${instance.state} with open tasks`);
  return broken;
}

/** Cleanup after an end is due, or a worker has it ([HOOK-4]). */
function brokenCleanup(instance: PromiseSnapshot['instance'], openTasks: number): readonly string[] {
  const { id, state, dueAt, leaseUntil, openWaits } = instance;
  if (dueAt !== null || leaseUntil !== null || (openWaits > 0 && openTasks > 0)) return [];
  return [`${id} is ${state} with cleanup hooks that nobody runs`];
}

/**
 * Waiting without a due time: only what lies outside can move it. Leaves that wait for nothing but closed tasks would
 * wait for ever; an instance that counts a wait without any waiting leaf is on an operator's hold (RULINGS B7).
 */
function brokenWait({ instance, frames, openTasks }: PromiseSnapshot): readonly string[] {
  if (instance.openWaits === 0) return [`${instance.id} is waiting for nothing`];
  const open = new Set(openTasks.map((task) => task.id));
  const waits = frames.flatMap(({ leaf }) => (leaf?.state === 'waiting' ? [leaf] : []));
  const lost = waits.every(
    ({ reason, taskId }) =>
      !OUTSIDE.includes(reason) || (reason === 'worker' && taskId !== null && !open.has(taskId)),
  );
  if (waits.length === 0 || !lost) return [];
  return [
    `${instance.id} counts ${instance.openWaits} open waits, but no task, gate, event or child is open`,
  ];
}
