import { isJsonArray, isJsonObject, type Json, member } from '../../core/json.ts';
import type { ContextView, StepCall } from '../../ports/step-handler.ts';
import type { TaskLogLine } from '../client/tasks.ts';
import type { Task } from '../client/wire.ts';
import { StepError } from '../step-error.ts';
import { NO_SERVICES } from './no-services.ts';

/** Lines of one report that the server keeps. */
const MAX_LOG_LINES = 1000;

export interface TaskCallParts {
  /** The worker's tenant; a task does not name its own. */
  readonly tenantId: string;
  readonly signal: AbortSignal;
  readonly remainingTimeMs: () => number;
  readonly wallMs: () => number;
  readonly logs: TaskLogLine[];
}

/** A task as the call that a handler knows from the engine. */
export function taskCall(task: Task, parts: TaskCallParts): StepCall {
  return {
    instanceId: task.instance_id,
    tenantId: parts.tenantId,
    namespace: '',
    blockId: task.block_id,
    attempt: task.attempt,
    iteration: task.iteration,
    params: task.params,
    context: contextOf(task.context),
    outputs: new Map(),
    idempotencyKey: task.idempotency_key,
    attemptKey: `${task.idempotency_key}:${task.attempt}`,
    redelivery: task.redelivery,
    // In a dry run no task is made.
    dryRun: false,
    signal: parts.signal,
    remainingTimeMs: parts.remainingTimeMs,
    state: { get: noState, count: noState },
    log: (level, message) => {
      if (parts.logs.length >= MAX_LOG_LINES) return;
      parts.logs.push({ ts: new Date(parts.wallMs()).toISOString(), level, message });
    },
    nowMs: Date.parse(task.claimed_at ?? task.created_at),
    gate: null,
    services: NO_SERVICES,
  };
}

/**
 * Milliseconds that are left of the task's time, which counts from its creation ([TO-1]). Both instants are the server's,
 * so that the worker's clock does not matter; null when the step has no timeout.
 */
export function leftMs(task: Task): number | null {
  if (task.timeout_ms === null) return null;
  const waitedMs = Date.parse(task.claimed_at ?? task.created_at) - Date.parse(task.created_at);
  return Math.max(0, task.timeout_ms - waitedMs);
}

/** The wire has no way to it; params can carry `{{state.key}}`. */
function noState(): Promise<never> {
  return Promise.reject(
    new StepError('a worker cannot read the state of an instance: hand it over in params', {
      retryable: false,
      code: 'STATE_NOT_AVAILABLE',
    }),
  );
}

function contextOf(context: Json): ContextView {
  const config = member(context, 'config');
  const audit = member(context, 'audit');
  const runtime = member(context, 'runtime');
  return {
    data: member(context, 'data') ?? null,
    config: isJsonObject(config) ? config : {},
    audit: isJsonArray(audit) ? audit : [],
    runtime: isJsonObject(runtime) ? runtime : {},
  };
}
