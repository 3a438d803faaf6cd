import type { Json } from '../../core/json.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { ApiError } from '../client/api-error.ts';
import type { Tasks } from '../client/tasks.ts';
import type { Task } from '../client/wire.ts';

/** A task that this worker holds, from the poll to the report. */
export interface HeldClaim {
  /** Fires when the task is cancelled, when the claim is lost, and when `abort` is called. */
  readonly signal: AbortSignal;
  readonly isLost: () => boolean;
  /** Resolves when the claim is lost: somebody else does the work now, or nobody needs it. */
  readonly lost: Promise<void>;
  /** One after the other, in the order of the calls. */
  readonly saveCheckpoint: (checkpoint: Json) => Promise<void>;
  readonly abort: (reason: DOMException) => void;
  /** Ends the heartbeats. */
  readonly release: () => void;
}

interface ClaimDeps {
  readonly tasks: Pick<Tasks, 'heartbeat'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly heartbeatMs: number;
}

/** Keeps a claim alive by heartbeats under its epoch ([WRK-10] to [WRK-12]) until it is released or lost. */
export function holdClaim(deps: ClaimDeps, task: Task): HeldClaim {
  const controller = new AbortController();
  const released = new AbortController();
  let isLost = false;
  let tellLost = (): void => undefined;
  const lost = new Promise<void>((resolve) => {
    tellLost = resolve;
  });
  const lose = (): void => {
    isLost = true;
    disarm();
    controller.abort(new DOMException('the claim of the task is lost', 'AbortError'));
    tellLost();
  };
  const heard = (cancelled: boolean): void => {
    if (cancelled) controller.abort(new DOMException('the instance is being cancelled', 'AbortError'));
  };
  const beat = async (): Promise<void> => {
    try {
      // Not repeated: the next one comes soon enough.
      const { cancelled } = await deps.tasks.heartbeat(task, null, { maxTries: 1, signal: released.signal });
      heard(cancelled);
    } catch (error) {
      if (isRefusedClaim(error)) lose();
      else if (!released.signal.aborted)
        deps.log.warn('a heartbeat was not answered', { task_id: task.id, error: String(error) });
    }
    if (!isLost && !released.signal.aborted) disarm = arm();
  };
  const arm = (): (() => void) => deps.clock.after(deps.heartbeatMs, () => void beat());
  let disarm = arm();
  return {
    signal: controller.signal,
    isLost: () => isLost,
    lost,
    saveCheckpoint: checkpointWriter(deps.tasks, task, heard, lose),
    abort: (reason) => controller.abort(reason),
    release: () => {
      disarm();
      released.abort();
    },
  };
}

function checkpointWriter(
  tasks: ClaimDeps['tasks'],
  task: Task,
  heard: (cancelled: boolean) => void,
  lose: () => void,
): HeldClaim['saveCheckpoint'] {
  let seq = task.checkpoint_seq;
  let last: Promise<void> = Promise.resolve();
  const write = async (checkpoint: Json): Promise<void> => {
    try {
      const beat = await tasks.heartbeat(task, { checkpoint, checkpoint_seq: seq });
      seq = beat.checkpoint_seq;
      heard(beat.cancelled);
    } catch (error) {
      if (isRefusedClaim(error)) lose();
      throw error;
    }
  };
  return (checkpoint) => {
    const written = last.then(() => write(checkpoint));
    last = written.catch(() => undefined);
    return written;
  };
}

/** 404: the task is unknown by now; 409: it is not ours any more. */
function isRefusedClaim(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.code === 'stale_claim');
}
