import { type InstanceState, isTerminal } from '../../src/core/run/states.ts';
import type { RowKind } from '../../src/core/run/output-row.ts';
import type { Claim, InstancePatch, Settle, TurnCommit } from '../../src/ports/store/turn.ts';
import {
  auditEntry,
  child,
  frame,
  leaf,
  row,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
} from '../support/turn-builder.ts';
import type { Ids } from './player-ids.ts';
import type { TurnPlan } from './random-acts.ts';

/** The commit that a plan means under this claim. It may well be one that a store refuses. */
export function composeTurn(claim: Claim, plan: TurnPlan, ids: Ids): TurnCommit {
  const settle = settleOf(claim, plan);
  const seen = turnOf(claim).seenSeq;
  const audit =
    settle === null ? [] : [{ ...auditEntry(claim.instance.state, settle.state), id: ids.next() }];
  return turnOf(claim, {
    rev: claim.instance.rev + plan.oddRev,
    seenSeq: plan.see ? seen : 0,
    strict: plan.strict,
    protectedResult: plan.protectedResult,
    hasResult: plan.hasResult,
    stepsDelta: plan.rows.length,
    rows: plan.rows.map(({ block, kind, attempt }) =>
      row({ id: ids.next(), blockId: `block-${block}`, kind: kind as RowKind, attempt, output: { attempt } }),
    ),
    supersede: supersedeOf(plan),
    ...framesOf(plan),
    kv: plan.kv.map(({ key, value }) =>
      value === null ? { key: `k${key}`, deleted: true as const } : { key: `k${key}`, value },
    ),
    inboxDone: claim.inbox.slice(0, plan.done).map(({ seq }) => ({ seq, disposition: 'applied' as const })),
    instance: patchOf(claim, plan, settle, ids),
    ...tasksOf(claim, plan, ids),
    ...childrenOf(plan, ids),
    audit,
    settle,
  });
}

function settleOf(claim: Claim, plan: TurnPlan): Settle | null {
  if (plan.settle === null) return null;
  const state = plan.settle as InstanceState;
  if (isTerminal(state)) {
    const failure = { blockId: 'block-0', error: { code: 'NO_FUNDS' } };
    return settleAs(state, { failure: state === 'failed' ? failure : null });
  }
  const dueAt = claim.leaseUntil + plan.settleInMs;
  const waits = state === 'waiting' && plan.settleInMs === 0;
  return settleAs(state, { dueAt: waits ? null : dueAt, nextFireAt: dueAt, openWaits: waits ? 1 : 0 });
}

function supersedeOf(plan: TurnPlan): TurnCommit['supersede'] {
  if (plan.supersede === null) return [];
  const kinds: readonly RowKind[] = plan.supersede % 2 === 0 ? ['result', 'node'] : ['error', 'counter'];
  return [
    {
      blockIds: [`block-${plan.supersede % 3}`],
      kinds,
      iteration: plan.supersede > 2 ? '' : null,
      keepLatest: plan.supersede > 3,
    },
  ];
}

function framesOf(plan: TurnPlan): Pick<TurnCommit, 'frames' | 'framesDeleted'> {
  const asking = frame({ cursor: plan.done, leaf: waitingLeaf('input') });
  const branch = frame({ blockId: 'both', branch: plan.done, detail: { kind: 'branch' } });
  switch (plan.frame) {
    case 'none':
      return { frames: [], framesDeleted: [] };
    case 'plain':
      return {
        frames: [asking, branch].map((written) => ({ frame: written, intent: null })),
        framesDeleted: [],
      };
    case 'gone':
      return { frames: [], framesDeleted: [branch] };
    case 'intent': {
      const dispatched = leaf({ dispatchedAt: 1_000 });
      return {
        frames: [
          { frame: asking, intent: { ...asking, leaf: dispatched } },
          { frame: branch, intent: { ...branch, leaf: dispatched } },
        ],
        framesDeleted: [branch],
      };
    }
  }
}

function patchOf(claim: Claim, plan: TurnPlan, settle: Settle | null, ids: Ids): InstancePatch {
  switch (plan.patch) {
    case 'data':
      return { data: plan.rows.length === 0 ? null : [plan.done] };
    case 'dataSet':
      return { dataSet: { [`d${plan.done}`]: { at: plan.done } }, dataRemoved: ['d0'] };
    case 'metadata':
      return { metadata: { budget_breach: 'max_steps' } };
    case 'state':
      return settle === null && !isTerminal(claim.instance.state) ? { state: 'running' } : {};
    case 'newRun':
      return settle?.state === 'scheduled'
        ? { newRun: { runNo: claim.instance.runNo + 1, runId: ids.next() } }
        : {};
    case 'startedAt':
      return { startedAt: 5_000, cancelRequestedAt: 6_000 };
    default:
      return {};
  }
}

function tasksOf(claim: Claim, plan: TurnPlan, ids: Ids): Pick<TurnCommit, 'tasksCreated' | 'tasksClosed'> {
  const blockId = `block-${plan.done}`;
  // No turn gives work to an instance that has ended.
  const kind = isTerminal(claim.instance.state) ? 'none' : plan.task;
  switch (kind) {
    case 'none':
      return { tasksCreated: [], tasksClosed: [] };
    case 'create':
    case 'create_once': {
      const once = kind === 'create' ? {} : { atMostOnce: true as const };
      return { tasksCreated: [task({ id: taskId(claim, blockId, ids), blockId, ...once })], tasksClosed: [] };
    }
    case 'cancel':
    case 'time_out': {
      const event = kind === 'cancel' ? 'cancelled' : 'timed_out';
      const open = ids.tasks.get(`${claim.instanceId} ${blockId}`);
      return { tasksCreated: [], tasksClosed: open === undefined ? [] : [{ taskId: open, event }] };
    }
  }
}

function taskId(claim: Claim, blockId: string, ids: Ids): string {
  const id = ids.next();
  ids.tasks.set(`${claim.instanceId} ${blockId}`, id);
  return id;
}

function childrenOf(plan: TurnPlan, ids: Ids): Pick<TurnCommit, 'childrenStarted' | 'childrenCancelled'> {
  switch (plan.child) {
    case 'none':
      return { childrenStarted: [], childrenCancelled: [] };
    case 'start': {
      const started = child({ id: ids.next(), runId: ids.next(), entry: plan.done });
      ids.children.push(started.id);
      return { childrenStarted: [started], childrenCancelled: [] };
    }
    case 'cancel': {
      const instanceId = ids.children.at(-1);
      return {
        childrenStarted: [],
        childrenCancelled: instanceId === undefined ? [] : [{ instanceId, signalId: ids.next() }],
      };
    }
  }
}
