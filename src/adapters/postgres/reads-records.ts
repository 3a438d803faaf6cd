import { type SQL, and, asc, desc, eq } from 'drizzle-orm';
import type { NodeRow } from '../../core/run/output-row.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import type { StepLogLine } from '../../ports/store/turn.ts';
import { isUuid, tenantCall } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';
import { auditLog, stepLogs, taskInstances } from './schema.ts';
import { readAuditRow, readLogLine } from './tables/rows.ts';

/**
 * The lists of one instance: rows, audit, logs. Each is one statement that begins at the instance, so that an unknown
 * instance (no row) and an empty list (one row of nulls) are told apart in one round trip.
 */
function instanceIs(tenantId: string | null, id: string): SQL | undefined {
  return and(eq(taskInstances.id, id), tenantId === null ? undefined : eq(taskInstances.tenantId, tenantId));
}

const LIST_NODE_ROWS = `
SELECT coalesce((
  SELECT json_agg(json_build_object(
    'blockId', l.block_id, 'iteration', l.iteration, 'kind', l.kind, 'attempt', l.attempt,
    'startedAt', stepwell.to_ms(l.started_at), 'createdAt', stepwell.to_ms(l.created_at),
    'node', CASE WHEN l.kind = 'node' THEN l.output END) ORDER BY l.rev, l.ordinal)
  FROM (
    SELECT DISTINCT ON (o.block_id) o.* FROM stepwell.block_outputs o
    WHERE o.instance_id = i.id AND o.tenant_id = i.tenant_id AND o.superseded_by IS NULL AND o.kind IN ('result', 'node')
    ORDER BY o.block_id, o.rev DESC, o.ordinal DESC
  ) l), '[]')
FROM stepwell.task_instances i WHERE ($1::text IS NULL OR i.tenant_id = $1) AND i.id = $2`;

export async function listNodeRows(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
): Promise<readonly NodeRow[] | null> {
  if (!isUuid(id)) return null;
  return (
    answerOf<NodeRow[] | undefined>(await tenantCall(driver, tenantId, LIST_NODE_ROWS, [tenantId, id])) ??
    null
  );
}

/** Newest first (http-api.md 5.4). */
export async function listAudit(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  limit: number,
): Promise<readonly AuditRow[] | null> {
  if (!isUuid(id)) return null;
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({ row: auditLog })
      .from(taskInstances)
      .leftJoin(
        auditLog,
        and(eq(auditLog.tenantId, taskInstances.tenantId), eq(auditLog.instanceId, taskInstances.id)),
      )
      .where(instanceIs(tenantId, id))
      .orderBy(desc(auditLog.ordinal))
      .limit(limit),
  );
  return rows.length === 0 ? null : rows.flatMap(({ row }) => (row === null ? [] : [readAuditRow(row)]));
}

/** By their instants, then as they were written. */
export async function listLogs(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  limit: number,
): Promise<readonly StepLogLine[] | null> {
  if (!isUuid(id)) return null;
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({ row: stepLogs })
      .from(taskInstances)
      .leftJoin(
        stepLogs,
        and(eq(stepLogs.tenantId, taskInstances.tenantId), eq(stepLogs.instanceId, taskInstances.id)),
      )
      .where(instanceIs(tenantId, id))
      .orderBy(asc(stepLogs.loggedAt), asc(stepLogs.ordinal))
      .limit(limit),
  );
  return rows.length === 0 ? null : rows.flatMap(({ row }) => (row === null ? [] : [readLogLine(row)]));
}
