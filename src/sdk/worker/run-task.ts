import type { StepOutcome } from '../../ports/step-handler.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { ApiError } from '../client/api-error.ts';
import type { TaskFailure, TaskLogLine, Tasks } from '../client/tasks.ts';
import type { Task } from '../client/wire.ts';
import type { DefinedHandler } from '../handler.ts';
import { toStepHandler } from '../step-handler.ts';
import { type HeldClaim, holdClaim } from './claim.ts';
import type { TaskExtras } from './handlers.ts';
import { leftMs, taskCall } from './task-call.ts';

export interface TaskDeps {
  readonly tasks: Tasks;
  readonly tenantId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly heartbeatMs: number;
  /** Fires when the worker gives up what still runs; then failures are not reported, and the task goes to another. */
  readonly stopped: AbortSignal;
}

/** Tries of one report: some two minutes of silence are waited out. */
const REPORT_TRIES = 30;

/** Does one task from its claim to its report. Never rejects: what cannot be reported comes back by itself. */
export async function runTask(
  deps: TaskDeps,
  task: Task,
  handlerOf: (extras: TaskExtras) => DefinedHandler,
): Promise<void> {
  const claim = holdClaim(deps, task);
  const giveUp = (): void => claim.abort(new DOMException('the worker stops', 'AbortError'));
  deps.stopped.addEventListener('abort', giveUp, { once: true });
  if (deps.stopped.aborted) giveUp();
  const logs: TaskLogLine[] = [];
  try {
    const handler = handlerOf({
      taskId: task.id,
      checkpoint: task.resume_checkpoint,
      saveCheckpoint: claim.saveCheckpoint,
    });
    const outcome = await callHandler(deps, task, claim, handler, logs);
    if (outcome === null) deps.log.info('a task was taken over by another worker', { task_id: task.id });
    else if (outcome.ok || !deps.stopped.aborted) await report(deps, task, outcome, logs);
  } catch (error) {
    deps.log.error('a task could not be reported', { task_id: task.id, error: String(error) });
  } finally {
    deps.stopped.removeEventListener('abort', giveUp);
    claim.release();
  }
}

/**
 * The outcome of a handler; null when the claim was lost before. It is over when its time is, whatever the handler does:
 * the signal fires and a later answer is dropped ([TO-1]).
 */
async function callHandler(
  deps: TaskDeps,
  task: Task,
  claim: HeldClaim,
  defined: DefinedHandler,
  logs: TaskLogLine[],
): Promise<StepOutcome | null> {
  const { clock } = deps;
  const limitMs = leftMs(task) ?? defined.defaults.timeoutMs ?? Number.POSITIVE_INFINITY;
  const deadline = clock.monotonicMs() + limitMs;
  let disarm = (): void => undefined;
  const timeout = new Promise<StepOutcome>((resolve) => {
    if (!Number.isFinite(limitMs)) return;
    disarm = clock.after(limitMs, () => {
      const message = `${task.block_id} did not finish within ${Math.round(limitMs)} ms of its claim`;
      resolve({ ok: false, failure: { message, retryable: true, code: 'TIMEOUT' } });
      claim.abort(new DOMException(message, 'TimeoutError'));
    });
  });
  const call = taskCall(task, {
    tenantId: deps.tenantId,
    signal: claim.signal,
    remainingTimeMs: () => Math.max(0, deadline - clock.monotonicMs()),
    wallMs: () => clock.nowMs(),
    logs,
  });
  try {
    return await Promise.race([
      toStepHandler(defined, clock).run(call),
      timeout,
      claim.lost.then(() => null),
    ]);
  } finally {
    disarm();
  }
}

async function report(
  deps: TaskDeps,
  task: Task,
  outcome: StepOutcome,
  logs: readonly TaskLogLine[],
): Promise<void> {
  const options = { maxTries: deps.stopped.aborted ? 1 : REPORT_TRIES };
  const fail = (failure: TaskFailure) => deps.tasks.fail(task, { ...failure, logs }, options);
  try {
    if (outcome.ok) await deps.tasks.complete(task, outcome.output, { logs }, options);
    else await fail(failureOf(outcome));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const refused = outcome.ok ? refusedOutput(error) : null;
    if (refused !== null) await fail(refused);
    else if (error.status !== 404 && error.status !== 409) throw error;
    else deps.log.info('a report came too late', { task_id: task.id, code: error.code });
  }
}

function failureOf({ failure }: Extract<StepOutcome, { readonly ok: false }>): TaskFailure {
  const { message, retryable, code, details } = failure;
  return {
    message,
    retryable,
    ...(code === undefined ? {} : { code }),
    ...(details === undefined ? {} : { details }),
  };
}

/** The server does not take this output, now or later: the step fails, or it would be done again for ever. */
function refusedOutput(error: ApiError): TaskFailure | null {
  switch (error.status) {
    case 413:
      return { message: error.message, retryable: false, code: 'OUTPUT_TOO_LARGE' };
    case 400:
    case 422:
      return { message: error.message, retryable: false, code: 'INVALID_OUTPUT' };
    default:
      return null;
  }
}
