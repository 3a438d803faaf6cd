import type { Json, JsonObject } from '../../../core/json.ts';
import type { OutputRow } from '../../../core/run/output-row.ts';
import type { TaskEvent, WorkerTask } from '../../../ports/store/accept.ts';
import type { SequenceRecord } from '../../../ports/store/catalog.ts';
import type { AuditRow, JournalRow } from '../../../ports/store/reads.ts';
import type { StepLogLine } from '../../../ports/store/turn.ts';
import type { auditLog, blockOutputs, journal, stepLogs, workerTaskEvents, workerTasks } from '../schema.ts';

/** What the columns of `sequences` hold, checked there by a constraint and at the door by the document's schema. */
export function readSequence(row: {
  readonly status: string;
  readonly definition: Json;
  readonly [column: string]: unknown;
}): SequenceRecord {
  return row as unknown as SequenceRecord;
}

/** Words in columns are held to the types by check constraints. */
type Columns<T extends { $inferSelect: unknown }> = T['$inferSelect'];

export function readOutputRow(row: Columns<typeof blockOutputs>): OutputRow {
  const { supersededBy: _supersededBy, tenantId: _tenantId, kind, ...columns } = row;
  return { ...columns, kind: kind as OutputRow['kind'] };
}

export function readAuditRow(row: Columns<typeof auditLog>): AuditRow {
  const { ordinal: _ordinal, details, eventType, ...columns } = row;
  return { ...columns, eventType: eventType as AuditRow['eventType'], details: details as JsonObject };
}

export function readLogLine(row: Columns<typeof stepLogs>): StepLogLine {
  return {
    blockId: row.blockId,
    at: row.loggedAt,
    level: row.level as StepLogLine['level'],
    message: row.message,
  };
}

export function readTask(row: Columns<typeof workerTasks>): WorkerTask {
  const {
    ofHook: _ofHook,
    atMostOnce: _atMostOnce,
    closedBy: _closedBy,
    checkpoint,
    errorCode: _code,
    errorDetails: _details,
    ...task
  } = row;
  return {
    ...task,
    state: task.state as WorkerTask['state'],
    resumeCheckpoint: checkpoint,
    redelivery: task.claimEpoch > 1,
  };
}

export function readTaskEvent(row: Columns<typeof workerTaskEvents>): TaskEvent {
  const { ordinal: _ordinal, tenantId: _tenantId, instanceId: _instanceId, event, ...columns } = row;
  return { ...columns, event: event as TaskEvent['event'] };
}

export function readJournalRow(row: Columns<typeof journal>): JournalRow {
  const { ordinal: _ordinal, details, ...columns } = row;
  return { ...columns, details: details as JsonObject };
}
