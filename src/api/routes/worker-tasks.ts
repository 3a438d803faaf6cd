import { pollTasks } from '../../engine/poll-tasks.ts';
import { heartbeatTask, reportTask, type TaskClaim } from '../../engine/report-task.ts';
import { defineBodyRoute, emptyOkay, okay } from '../route.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';
import {
  CompleteBody,
  FailBody,
  HeartbeatBody,
  HeartbeatReply,
  PollBody,
  QueuePollBody,
  showTask,
  TaskList,
} from '../schemas/worker.ts';

const tag = 'workers';

const poll = defineBodyRoute({
  method: 'POST',
  path: '/workers/tasks/poll',
  tag,
  summary: 'Claim pending tasks of a handler, oldest first',
  secretAnswer: true,
  params: NoParameters,
  query: NoParameters,
  body: PollBody,
  responses: { 200: TaskList },
  handle: async (deps, { caller, body }) => {
    const { handler_name: handlerName, worker_id: workerId, limit, version } = body;
    const tasks = await pollTasks(deps, caller, { handlerName, workerId, limit, version });
    return tasks.ok ? okay(tasks.value.map(showTask)) : tasks;
  },
});

const pollQueue = defineBodyRoute({
  method: 'POST',
  path: '/workers/tasks/poll/queue',
  tag,
  summary: 'Claim pending tasks of a handler from one queue',
  secretAnswer: true,
  params: NoParameters,
  query: NoParameters,
  body: QueuePollBody,
  responses: { 200: TaskList },
  handle: async (deps, { caller, body }) => {
    const { handler_name: handlerName, worker_id: workerId, limit, version, queue_name: queueName } = body;
    const tasks = await pollTasks(deps, caller, { handlerName, workerId, limit, version, queueName });
    return tasks.ok ? okay(tasks.value.map(showTask)) : tasks;
  },
});

const complete = defineBodyRoute({
  method: 'POST',
  path: '/workers/tasks/{id}/complete',
  tag,
  summary: 'Report a result',
  params: IdPath,
  query: NoParameters,
  body: CompleteBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const outcome = { ok: true as const, output: body.output };
    const reported = await reportTask(deps, caller, claimOf(path.id, body), { outcome, logs: body.logs });
    return reported.ok ? emptyOkay : reported;
  },
});

const fail = defineBodyRoute({
  method: 'POST',
  path: '/workers/tasks/{id}/fail',
  tag,
  summary: 'Report a failure',
  params: IdPath,
  query: NoParameters,
  body: FailBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const outcome = {
      ok: false as const,
      message: body.message,
      retryable: body.retryable,
      ...(body.code === null ? {} : { code: body.code }),
      ...(body.details === undefined ? {} : { details: body.details }),
    };
    const reported = await reportTask(deps, caller, claimOf(path.id, body), { outcome, logs: body.logs });
    return reported.ok ? emptyOkay : reported;
  },
});

const heartbeat = defineBodyRoute({
  method: 'POST',
  path: '/workers/tasks/{id}/heartbeat',
  tag,
  summary: 'Keep a claim alive and store a checkpoint',
  params: IdPath,
  query: NoParameters,
  body: HeartbeatBody,
  responses: { 200: HeartbeatReply },
  handle: async (deps, { caller, path, body }) => {
    const checkpoint = { value: body.checkpoint, seq: body.checkpoint_seq };
    const beat = await heartbeatTask(deps, caller, claimOf(path.id, body), checkpoint);
    if (!beat.ok) return beat;
    return okay({ ok: true, checkpoint_seq: beat.value.checkpointSeq, cancelled: beat.value.cancelled });
  },
});

export const workerTaskRoutes = [poll, pollQueue, complete, fail, heartbeat];

function claimOf(
  taskId: string,
  body: { readonly worker_id: string; readonly claim_epoch: number },
): TaskClaim {
  return { taskId, workerId: body.worker_id, claimEpoch: body.claim_epoch };
}
