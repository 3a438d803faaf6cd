import type { Json } from '../../core/json.ts';
import { ApiError } from './api-error.ts';
import { type CallOptions, type ListPage, segment, type Send } from './send.ts';
import type { Beat, Task, TaskAttempt, WorkerInfo } from './wire.ts';

export interface PollRequest {
  readonly handler_name: string;
  readonly worker_id: string;
  /** Only tasks of this queue; absent: of all. */
  readonly queue_name?: string | undefined;
  /** Default 1, at most 1000. */
  readonly limit?: number;
  readonly version?: string | undefined;
}

/** The claim that a poll gave. */
export interface TaskClaim {
  readonly id: string;
  readonly worker_id: string | null;
  readonly claim_epoch: number;
}

export interface TaskLogLine {
  /** RFC 3339. */
  readonly ts: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface TaskFailure {
  readonly message: string;
  /** Default false: final. */
  readonly retryable?: boolean;
  readonly code?: string;
  readonly details?: Json;
  readonly logs?: readonly TaskLogLine[];
}

export interface Checkpoint {
  readonly checkpoint: Json;
  /** That of the task, or of the answer to the last checkpoint. */
  readonly checkpoint_seq: number;
}

export interface WorkerFilter extends ListPage {
  /** How long ago a worker may have polled; default 60, at most a day. */
  readonly alive_within_secs?: number;
  /** Default false. True: those that polled longer ago too. */
  readonly include_stale?: boolean;
}

export interface TaskFilter {
  readonly state?: Task['state'];
  readonly handler_name?: string;
  readonly worker_id?: string;
  readonly queue_name?: string;
  /** Default 50, at most 1000. */
  readonly limit?: number;
  readonly offset?: number;
}

export type Tasks = ReturnType<typeof taskCalls>;

/** Worker tasks. `createWorker` of `stepwell/worker` does all of this for handlers. */
export function taskCalls(send: Send) {
  const report = (claim: TaskClaim, verb: 'complete' | 'fail', more: object, options: CallOptions) => {
    const body = { worker_id: claim.worker_id, claim_epoch: claim.claim_epoch, ...more };
    const path = `/workers/tasks/${segment(claim.id)}/${verb}`;
    return unlessReported(send<undefined>({ method: 'POST', path, body, idempotent: true }, options));
  };
  return {
    /** Claims pending tasks of a handler, oldest first. Not repeated by itself: tasks whose answer was lost come back. */
    poll: (request: PollRequest, options: CallOptions = {}) => {
      const path = `/workers/tasks/poll${request.queue_name === undefined ? '' : '/queue'}`;
      return send<readonly Task[]>({ method: 'POST', path, body: request, idempotent: false }, options);
    },
    /** Reports a result. 409: the claim is not the live one, unless an earlier try of this very call was heard. */
    complete: (
      claim: TaskClaim,
      output: Json,
      { logs = [] }: { readonly logs?: readonly TaskLogLine[] } = {},
      options: CallOptions = {},
    ) => report(claim, 'complete', { output, logs }, options),
    /** Reports a failure; 409 as with `complete`. */
    fail: (claim: TaskClaim, failure: TaskFailure, options: CallOptions = {}) =>
      report(claim, 'fail', failure, options),
    /**
     * Keeps the claim alive. A checkpoint is stored when `checkpoint_seq` is the present one; the answer has the next.
     * 409: the claim is lost, or the number is not the present one (`stale_checkpoint`).
     */
    heartbeat: (claim: TaskClaim, checkpoint: Checkpoint | null = null, options: CallOptions = {}) => {
      const body = { worker_id: claim.worker_id, claim_epoch: claim.claim_epoch, ...checkpoint };
      const path = `/workers/tasks/${segment(claim.id)}/heartbeat`;
      const beat = send<Beat>({ method: 'POST', path, body, idempotent: true }, options);
      return checkpoint === null ? beat : unlessStored(beat, checkpoint);
    },
    /** Newest first. */
    list: (filter: TaskFilter = {}, options: CallOptions = {}) =>
      send<readonly Task[]>(
        { method: 'GET', path: '/workers/tasks', query: { ...filter }, idempotent: true },
        options,
      ),
    /** What happened to a task, oldest first. */
    attempts: (id: string, options: CallOptions = {}) =>
      send<readonly TaskAttempt[]>(
        { method: 'GET', path: `/workers/tasks/${segment(id)}/attempts`, idempotent: true },
        options,
      ),
    /** Workers that polled lately, last seen first. */
    workers: (filter: WorkerFilter = {}, options: CallOptions = {}) =>
      send<readonly WorkerInfo[]>(
        { method: 'GET', path: '/workers', query: { ...filter }, idempotent: true },
        options,
      ),
  };
}

/**
 * RULINGS B9: a task takes one report, and a second one is 409. When the first try had no clear answer, that 409 says
 * that it was heard.
 */
async function unlessReported(reported: Promise<undefined>): Promise<undefined> {
  try {
    return await reported;
  } catch (error) {
    if (error instanceof ApiError && error.repeated && error.status === 409) return undefined;
    throw error;
  }
}

/** Only the holder of a claim writes checkpoints, so that a repeat which comes too late was heard the first time. */
async function unlessStored(beat: Promise<Beat>, { checkpoint_seq }: Checkpoint): Promise<Beat> {
  try {
    return await beat;
  } catch (error) {
    if (!(error instanceof ApiError && error.repeated && error.code === 'stale_checkpoint')) throw error;
    return { ok: true, checkpoint_seq: checkpoint_seq + 1, cancelled: false };
  }
}
