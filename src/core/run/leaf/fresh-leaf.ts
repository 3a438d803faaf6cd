import type { Leaf } from '../frame.ts';

/** A leaf that has just been reached in this pass; none of its checks is behind it. */
export function freshLeaf(now: number): Leaf {
  return {
    state: 'waiting',
    reason: null,
    wakeAt: null,
    attempt: 0,
    startedAt: now,
    dispatchedAt: null,
    redeliveries: 0,
    passed: { when: false, delay: false, gate: false },
    gate: null,
    taskId: null,
    childId: null,
    childEnd: null,
    keyRunId: null,
    error: null,
  };
}
