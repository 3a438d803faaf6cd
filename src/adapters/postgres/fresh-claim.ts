import type { NewInstance, StartRequest } from '../../ports/store/accept.ts';
import type { Claim, InstanceRecord } from '../../ports/store/turn.ts';
import { copyJson } from './rows.ts';

/** The claim that start_v1 took with the new row, as reading it back would give it. */
export function freshClaim(
  instance: NewInstance,
  lease: NonNullable<StartRequest['lease']>,
  now: number,
  openBreakers: readonly string[] | null = null,
): Claim {
  return {
    tenantId: instance.tenantId,
    instanceId: instance.id,
    epoch: 1,
    leaseToken: lease.leaseToken,
    leaseUntil: now + lease.leaseMs,
    instance: freshRecord(instance, now),
    frames: [],
    inbox: [],
    takenOver: false,
    among: lease.among ?? 1,
    mayRun: true,
    ...(openBreakers === null ? {} : { openBreakers }),
  };
}

function freshRecord(instance: NewInstance, now: number): InstanceRecord {
  return {
    id: instance.id,
    tenantId: instance.tenantId,
    namespace: instance.namespace,
    sequenceId: instance.sequenceId,
    state: 'running',
    priority: instance.priority,
    timezone: instance.timezone,
    nextFireAt: instance.nextFireAt ?? now,
    // The caller may go on changing what it gave.
    data: copyJson(instance.data),
    config: copyJson(instance.config),
    audit: copyJson(instance.audit),
    metadata: copyJson(instance.metadata),
    parent: null,
    depth: 0,
    sessionId: instance.sessionId,
    dryRun: instance.dryRun,
    dryRunAutoApprove: instance.dryRunAutoApprove,
    dryRunRealTime: instance.dryRunRealTime ?? false,
    createdAt: now,
    startedAt: now,
    runNo: 1,
    runId: instance.runId,
    rev: 0,
    totalSteps: 0,
    recoveryCount: 0,
    cancelRequestedAt: null,
    currentStep: null,
    hasHistory: false,
    budget: instance.budget === null ? null : copyJson(instance.budget),
    usage: null,
  };
}
