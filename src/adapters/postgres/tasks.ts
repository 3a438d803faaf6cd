import {
  type AcceptStore,
  type HeartbeatAnswer,
  type HeartbeatRequest,
  POLL_BYTES_MAX,
  type ReportTaskAnswer,
  type ReportTaskRequest,
  type WorkerTask,
} from '../../ports/store/accept.ts';
import { call, isUuid } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const REPORT = 'SELECT stepwell.report_task_v1($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb)';
const HEARTBEAT = 'SELECT stepwell.heartbeat_task_v1($1, $2, $3, $4, $5, $6::jsonb)';
const POLL = 'SELECT stepwell.poll_tasks_v1($1, $2, $3, $4, $5, $6, $7)';
const RELEASE_SILENT = 'SELECT stepwell.release_silent_tasks_v1($1, $2)';

/** The largest poll ([WRK-1]). */
const POLL_LIMIT_MAX = 1000;

type TaskStore = Pick<AcceptStore, 'reportTask' | 'heartbeatTask' | 'pollTasks' | 'releaseSilentTasks'>;

export function createTaskStore(driver: SqlDriver): TaskStore {
  return {
    reportTask: (request) => reportTask(driver, request),
    heartbeatTask: (request) => heartbeatTask(driver, request),
    async pollTasks({ tenantId, handlerName, queueName, workerId, version, limit }) {
      const bounded = Math.min(Math.max(1, limit), POLL_LIMIT_MAX);
      const params = [tenantId, handlerName, queueName ?? null, workerId, version, bounded, POLL_BYTES_MAX];
      return answerOf<WorkerTask[]>(await call(driver, POLL, params));
    },
    async releaseSilentTasks(silentMs, limit) {
      return answerOf<number>(await call(driver, RELEASE_SILENT, [silentMs, limit]));
    },
  };
}

/** What a breaker shows of the last failure. */
const BREAKER_ERROR_CHARS = 500;

async function reportTask(driver: SqlDriver, request: ReportTaskRequest): Promise<ReportTaskAnswer> {
  const { tenantId, taskId, workerId, claimEpoch, factId, outcome, logs, breaker } = request;
  if (!isUuid(taskId)) return { status: 'not_found' };
  const lines = JSON.stringify(logs.map(logLine));
  const failure =
    outcome.ok || breaker === undefined
      ? {}
      : { breaker: { ...breaker, error: outcome.message.slice(0, BREAKER_ERROR_CHARS) } };
  const told = JSON.stringify({ ...outcome, ...failure });
  const params = [tenantId, taskId, workerId, claimEpoch, factId, told, lines];
  return answerOf(await call(driver, REPORT, params));
}

/** A worker's clock or level word may be anything; an instant that cannot be read becomes the database's now. */
function logLine({ ts, level, message }: ReportTaskRequest['logs'][number]): object {
  const at = Date.parse(ts);
  const known = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
  return { message, level: known, ...(Number.isNaN(at) ? {} : { at }) };
}

async function heartbeatTask(driver: SqlDriver, request: HeartbeatRequest): Promise<HeartbeatAnswer> {
  const { tenantId, taskId, workerId, claimEpoch, checkpoint } = request;
  if (!isUuid(taskId)) return { status: 'not_found' };
  const value = checkpoint === undefined ? null : JSON.stringify(checkpoint.value);
  const params = [tenantId, taskId, workerId, claimEpoch, checkpoint?.seq ?? null, value];
  return answerOf(await call(driver, HEARTBEAT, params));
}
