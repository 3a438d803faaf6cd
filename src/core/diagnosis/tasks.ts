import { isAtLeast } from '../worker-versions.ts';
import type { DiagnosedTask, DiagnosisFacts } from './facts.ts';
import { type AffectedResource, type Diagnosis, type Evidence, diagnosis, instant } from './finding.ts';

/** A worker is alive when it polled within this time, and should have claimed or reported within it (http-api.md 7.1). */
export const WORKER_ALIVE_MS = 120_000;

/** What the open worker tasks of the run wait for. While it is paused its tasks are given to nobody. */
export function taskWaits(facts: DiagnosisFacts): readonly Diagnosis[] {
  return facts.tasks.flatMap((task) => {
    if (task.state === 'claimed') return [claimed(facts.now, task)];
    return task.state === 'pending' && facts.instance.state !== 'paused' ? pending(facts, task) : [];
  });
}

function claimed(now: number, task: DiagnosedTask): Diagnosis {
  const { workerId, blockId } = task;
  const seenAt = task.heartbeatAt ?? task.claimedAt ?? task.createdAt;
  const isSilent = now - seenAt > WORKER_ALIVE_MS;
  const worker = `worker '${workerId ?? 'unknown'}'`;
  return diagnosis(isSilent ? 'STALE_WORKER_CLAIM' : 'WORKER_TASK_PENDING', {
    summary: isSilent
      ? `${worker} has been silent for ${secondsOf(now - seenAt)} s about the task of step '${blockId}'`
      : `${worker} works on the task of step '${blockId}'`,
    evidence: [
      { label: 'heartbeat_at', summary: instant(seenAt) },
      { label: 'claimed_at', summary: instant(task.claimedAt ?? task.createdAt) },
    ],
    affected: taskOf(task),
  });
}

function pending(facts: DiagnosisFacts, task: DiagnosedTask): readonly Diagnosis[] {
  const { surroundings, now } = facts;
  // What is not known speaks for nothing.
  if (surroundings === null) return [];
  const { handlerName } = task;
  const versions = surroundings.workers.find(({ handler }) => handler === handlerName)?.versions ?? [];
  if (versions.length === 0) return [noWorker(task)];
  const pin = surroundings.pins.find(({ handler }) => handler === handlerName);
  if (
    pin !== undefined &&
    !versions.some((version) => version !== null && isAtLeast(version, pin.minVersion))
  )
    return [belowPin(task, pin.minVersion, versions)];
  const isLate = now - task.createdAt > WORKER_ALIVE_MS;
  return [isLate ? notClaiming(now, task) : pickup(task)];
}

function noWorker(task: DiagnosedTask): Diagnosis {
  const { handlerName } = task;
  return diagnosis('NO_COMPATIBLE_WORKER', {
    summary: `handler '${handlerName}' has no live worker`,
    evidence: offered(task),
    affected: { kind: 'handler', id: handlerName },
    remediation: [{ summary: `start a worker that serves '${handlerName}'`, sideEffectRisk: false }],
  });
}

function belowPin(task: DiagnosedTask, pin: string, versions: ReadonlyArray<string | null>): Diagnosis {
  const shown = versions.map((version) => version ?? 'none').join(', ');
  return diagnosis('WORKER_BELOW_VERSION_PIN', {
    summary: `all live workers of handler '${task.handlerName}' are below the pinned version ${pin}`,
    evidence: [
      { label: 'min_version', summary: pin },
      { label: 'live_versions', summary: shown, data: [...versions] },
      ...offered(task),
    ],
    affected: { kind: 'handler', id: task.handlerName },
  });
}

function notClaiming(now: number, task: DiagnosedTask): Diagnosis {
  const age = secondsOf(now - task.createdAt);
  return diagnosis('WORKER_NOT_CLAIMING', {
    summary: `a worker of handler '${task.handlerName}' is alive, but nobody has claimed the task for ${age} s`,
    evidence: offered(task),
    affected: taskOf(task),
  });
}

function pickup(task: DiagnosedTask): Diagnosis {
  return diagnosis('WAITING_WORKER_PICKUP', {
    summary: `the task of step '${task.blockId}' is offered to workers of handler '${task.handlerName}'`,
    evidence: offered(task),
    affected: taskOf(task),
  });
}

function offered({ createdAt, queueName }: DiagnosedTask): readonly Evidence[] {
  const queue = queueName === null ? [] : [{ label: 'queue', summary: queueName }];
  return [{ label: 'offered_at', summary: instant(createdAt) }, ...queue];
}

function taskOf({ id }: DiagnosedTask): AffectedResource {
  return { kind: 'worker_task', id };
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
