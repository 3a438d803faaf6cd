import type { Changes, Settle } from '../core/run/changes.ts';
import type { LeaseRef, TurnCommit } from '../ports/store/turn.ts';

/**
 * The commit of a turn. Written member by member: this is made once per step, and objects of so many members that are
 * spread into each other cost more than all the rest of it.
 */
export function turnCommit(parts: {
  readonly ref: LeaseRef;
  readonly rev: number;
  readonly runNo: number;
  readonly seenSeq: number;
  readonly changes: Changes;
  readonly settle: Settle | null;
}): TurnCommit {
  const { ref, changes } = parts;
  const commit: TurnCommit = {
    tenantId: ref.tenantId,
    instanceId: ref.instanceId,
    epoch: ref.epoch,
    leaseToken: ref.leaseToken,
    rev: parts.rev,
    runNo: parts.runNo,
    seenSeq: parts.seenSeq,
    strict: changes.strict,
    protectedResult: changes.protectedResult,
    hasResult: changes.hasResult,
    stepsDelta: changes.stepsDelta,
    rows: changes.rows,
    supersede: changes.supersede,
    frames: changes.frames,
    framesDeleted: changes.framesDeleted,
    inboxDone: changes.inboxDone,
    instance: changes.instance,
    kv: changes.kv,
    values: changes.values,
    tasksCreated: changes.tasksCreated,
    tasksClosed: changes.tasksClosed,
    childrenStarted: changes.childrenStarted,
    childrenCancelled: changes.childrenCancelled,
    audit: changes.audit,
    journal: changes.journal,
    logs: changes.logs,
    outcomes: changes.outcomes,
    settle: parts.settle,
  };
  const { outside, webhooks = [] } = changes;
  if (outside === undefined && webhooks.length === 0) return commit;
  return {
    ...commit,
    ...(webhooks.length === 0 ? {} : { webhooks }),
    ...(outside === undefined ? {} : { outside }),
  };
}
