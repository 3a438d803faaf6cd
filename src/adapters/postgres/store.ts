import type { ReadStore } from '../../ports/store/reads.ts';
import type { Store } from '../../ports/store/store.ts';
import { createFactStore } from './accept.ts';
import { call } from './call.ts';
import { createBlobStore } from './blobs.ts';
import { createApiKeyStore } from './api-keys.ts';
import { createCatalogStore } from './catalog.ts';
import { createCredentialStore } from './credentials.ts';
import { createEventStore } from './events.ts';
import { listChanges } from './changes.ts';
import { type SqlDriver, SqlError } from './driver.ts';
import { createHandlerNameStore } from './handler-names.ts';
import { createHistoryStore } from './history.ts';
import { createItemStore } from './items.ts';
import { createLimitStore } from './limits.ts';
import { createManyInstancesStore } from './many-instances.ts';
import * as outputs from './reads-outputs.ts';
import * as instances from './reads-instances.ts';
import { createOutboxStore } from './outbox.ts';
import { listJournal } from './reads-journal.ts';
import * as records from './reads-records.ts';
import * as tasks from './reads-tasks.ts';
import { answerOf } from './rows.ts';
import { createScheduleStore } from './schedules.ts';
import { createSessionStore } from './sessions.ts';
import { createShapeStore } from './shape.ts';
import { createTaskStore } from './tasks.ts';
import { createTurnStore } from './turns.ts';
import { createNodeStore, createWorkerAdminStore } from './worker-admin.ts';

/**
 * The store over PostgreSQL, whichever driver brings the statements there. The schema must be migrated; `ping` tells
 * its version. The driver is closed with the store.
 */
export function createPostgresStore(driver: SqlDriver): Store {
  return {
    ...createTurnStore(driver),
    ...createFactStore(driver),
    ...createTaskStore(driver),
    ...createCatalogStore(driver),
    ...createHandlerNameStore(driver),
    ...createScheduleStore(driver),
    ...createSessionStore(driver),
    ...createManyInstancesStore(driver),
    ...createEventStore(driver),
    ...createBlobStore(driver),
    ...createCredentialStore(driver),
    ...createApiKeyStore(driver),
    ...createLimitStore(driver),
    ...createItemStore(driver),
    ...createOutboxStore(driver),
    ...createWorkerAdminStore(driver),
    ...createNodeStore(driver),
    ...createShapeStore(driver),
    ...createReadStore(driver),
    ...createHistoryStore(driver),
    listChanges: (query) => listChanges(driver, query),
    close: () => driver.close(),
  };
}

function createReadStore(driver: SqlDriver): ReadStore {
  return {
    readOutputs: (key, blockIds) => instances.readOutputs(driver, key, blockIds),
    readState: (key, keys) => instances.readState(driver, key, keys),
    countState: (key) => instances.countState(driver, key),
    readItems: (key, snapshotKey, from, count) =>
      instances.readItems(driver, key, snapshotKey, { from, count }),
    getInstance: (tenantId, id) => instances.getInstance(driver, tenantId, id),
    listInstances: (query) => instances.listInstances(driver, query),
    getFrontier: (tenantId, id) => instances.getFrontier(driver, tenantId, id),
    listChildren: (tenantId, id) => instances.listChildren(driver, tenantId, id),
    listOpenGates: (query) => instances.listOpenGates(driver, query),
    listOutputs: (tenantId, id, which) => outputs.listOutputs(driver, tenantId, id, which),
    getOutput: (tenantId, id, rowId) => outputs.getOutput(driver, tenantId, id, rowId),
    listNodeRows: (tenantId, id) => records.listNodeRows(driver, tenantId, id),
    listAudit: (tenantId, id, limit) => records.listAudit(driver, tenantId, id, limit),
    listJournal: (tenantId, id, limit) => listJournal(driver, tenantId, id, limit),
    listLogs: (tenantId, id, limit) => records.listLogs(driver, tenantId, id, limit),
    getTask: (tenantId, taskId) => tasks.getTask(driver, tenantId, taskId),
    listTasks: (query) => tasks.listTasks(driver, query),
    listTaskEvents: (tenantId, taskId, limit) => tasks.listTaskEvents(driver, tenantId, taskId, limit),
    taskStats: (tenantId) => tasks.taskStats(driver, tenantId),
    listWorkers: (tenantId, aliveWithinMs, includeStale) =>
      tasks.listWorkers(driver, tenantId, aliveWithinMs, includeStale),
    hasWorkerFor: (handlerName, withinMs) => tasks.hasWorkerFor(driver, handlerName, withinMs),
    ping: () => ping(driver),
  };
}

const PING = 'SELECT stepwell.ping_v1()';
const PING_WITHOUT_SCHEMA = `
SELECT json_build_object('now', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, 'schemaVersion', 0)`;
/** No such schema, table or function: the database works and nobody has migrated it yet. */
const NOT_MIGRATED: ReadonlySet<string> = new Set(['3F000', '42P01', '42883']);

async function ping(driver: SqlDriver): Promise<{ readonly now: number; readonly schemaVersion: number }> {
  try {
    return answerOf(await call(driver, PING, []));
  } catch (error) {
    if (!(error instanceof SqlError) || !NOT_MIGRATED.has(error.code)) throw error;
    return answerOf(await call(driver, PING_WITHOUT_SCHEMA, []));
  }
}
