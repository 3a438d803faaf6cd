import { type Json, member } from '../json.ts';
import { errorObject } from './failures.ts';
import { type Frame, type Leaf, wakeOf } from './frame.ts';
import { decisionOf } from './node-outcome.ts';
import type { NodeRow } from './output-row.ts';
import type { Rest } from './rest-of-list.ts';
import type { NodeState } from './states.ts';

/** What a node shows of its present pass (sequences.md 5.2). Instants are epoch ms. */
export interface NodeFacts {
  readonly state: NodeState;
  readonly reason: string | null;
  readonly wakeAt: number | null;
  readonly attempt: number;
  readonly iteration: string;
  readonly error: Json;
  readonly decision: Json;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

/** A composite that is open. */
export function frameFacts(frame: Frame): NodeFacts {
  const polls = frame.detail.kind === 'loop' ? frame.detail.pollUntil : null;
  return {
    ...untouchedFacts(frame.iteration, 'pending'),
    state: polls === null ? 'running' : 'waiting',
    reason: polls === null ? null : 'poll',
    wakeAt: polls,
    decision: decisionOf(frame.detail, null),
    startedAt: frame.startedAt,
  };
}

/** A leaf that has begun and not ended. */
export function leafFacts(leaf: Leaf, iteration: string): NodeFacts {
  return {
    ...untouchedFacts(iteration, 'pending'),
    state: leaf.state,
    reason: leaf.reason,
    wakeAt: leaf.state === 'waiting' ? wakeOf(leaf) : leaf.wakeAt,
    attempt: leaf.attempt,
    error: leaf.error === null ? null : { ...errorObject(leaf.error), retryable: leaf.error.retryable },
    decision: leaf.childId === null ? null : { child_instance_id: leaf.childId },
    startedAt: leaf.startedAt,
  };
}

/** A block that has ended; null when the row does not say so. */
export function rowFacts(row: NodeRow | undefined): NodeFacts | null {
  if (row === undefined) return null;
  const state = row.kind === 'result' ? 'completed' : member(row.node, 'state');
  if (!isEnd(state)) return null;
  return {
    ...untouchedFacts(row.iteration, 'pending'),
    state,
    attempt: row.attempt,
    error: member(row.node, 'error') ?? null,
    decision: member(row.node, 'decision') ?? null,
    startedAt: row.startedAt,
    completedAt: row.createdAt,
  };
}

function isEnd(state: Json | undefined): state is 'completed' | 'failed' | 'cancelled' | 'skipped' {
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped';
}

/** A block that left no trace. */
export function untouchedFacts(iteration: string, state: Rest): NodeFacts {
  return {
    state,
    reason: null,
    wakeAt: null,
    attempt: 0,
    iteration,
    error: null,
    decision: null,
    startedAt: null,
    completedAt: null,
  };
}

/** A leaf that is being called on the strength of the claim (RULINGS A22): nothing of it is stored before its result. */
export function calledFacts(iteration: string): NodeFacts {
  return { ...untouchedFacts(iteration, 'pending'), state: 'running' };
}
