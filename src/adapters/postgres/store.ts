import type { ReadStore } from '../../ports/store/reads.ts';
import type { Store } from '../../ports/store/store.ts';
import { createFactStore } from './accept.ts';
import { call } from './call.ts';
import { createBlobStore } from './blobs.ts';
import { boundedDriver } from './bounded-driver.ts';
import { createApiKeyStore } from './api-keys.ts';
import { createCatalogStore } from './catalog.ts';
import { createEventStore } from './events.ts';
import { createDeferredCredentialStore } from './deferred-credentials.ts';
import { createDeferredLimitStore } from './deferred-limits.ts';
import { type SqlDriver, SqlError } from './driver.ts';
import { createHandlerNameStore } from './handler-names.ts';
import { createHistoryStore } from './history.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createDeferredInspectionStore } from './deferred-inspection.ts';
import { createItemStore } from './items.ts';
import { createManyInstancesStore } from './many-instances.ts';
import * as instances from './reads-instances.ts';
import { createOutboxStore } from './outbox.ts';
import { answerOf } from './rows.ts';
import { PING } from './misfit.ts';
import { createPluginStore } from './plugins.ts';
import { createScheduleStore } from './schedules.ts';
import { createSessionStore } from './sessions.ts';
import { createShapeStore } from './shape.ts';
import { createSweepStore } from './sweeps.ts';
import { createTaskStore } from './tasks.ts';
import { createTurnStore } from './turns.ts';
import { createWakeStore } from './wakes.ts';
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
    ...createDeferredCredentialStore(driver),
    ...createPluginStore(driver),
    ...createApiKeyStore(driver),
    ...createDeferredLimitStore(driver),
    ...createDeferredInspectionStore(driver),
    ...createWakeStore(driver),
    ...createSweepStore(driver),
    ...createItemStore(driver),
    ...createOutboxStore(driver),
    ...createWorkerAdminStore(driver),
    ...createNodeStore(driver),
    ...createShapeStore(driver),
    ...createReadStore(driver),
    listInstances: async (query) => (await lists(driver)).listInstances(query),
    pageInstances: async (query, maxBytes) => (await lists(driver)).pageInstances(query, maxBytes),
    countInstances: async (filter, countedTo) => (await lists(driver)).countInstances(filter, countedTo),
    countLiveRuns: async (ids, countedTo) => (await lists(driver)).countLiveRuns(ids, countedTo),
    ...createHistoryStore(driver),
    ...createIdempotencyStore(driver, createPostgresStore),
    listChanges: async (query) => (await changes()).listChanges(driver, query),
    withinBytes: (maxBytes) => createBoundedStore(driver, maxBytes),
    close: () => driver.close(),
  };
}

/** Single values, and pages with a bound of their own, come as they do without one. */
function createBoundedStore(driver: SqlDriver, maxBytes: number): Store {
  const blobs = createBlobStore(driver);
  const reads = createReadStore(driver);
  return {
    ...createPostgresStore(boundedDriver(driver, maxBytes)),
    getBlob: (key, artifactId, most) => blobs.getBlob(key, artifactId, most),
    getOutput: (tenantId, id, rowId) => reads.getOutput(tenantId, id, rowId),
    pageInstances: async (query, most) => (await lists(driver)).pageInstances(query, most),
  };
}

/**
 * What turns do not read is loaded when it is first asked for, and drizzle with it: a function that only runs turns starts
 * without (docs/decisions/0014).
 */
const changes = () => import('./changes.ts');
const lists = async (driver: SqlDriver) =>
  (await import('./instance-lists.ts')).createInstanceListStore(driver);
const journal = () => import('./reads-journal.ts');
const outputs = () => import('./reads-outputs.ts');
const records = () => import('./reads-records.ts');
const tasks = () => import('./reads-tasks.ts');

function createReadStore(driver: SqlDriver): ReadStore {
  return {
    readOutputs: (key, blockIds) => instances.readOutputs(driver, key, blockIds),
    readState: (key, keys) => instances.readState(driver, key, keys),
    countState: (key) => instances.countState(driver, key),
    readItems: (key, snapshotKey, from, count) =>
      instances.readItems(driver, key, snapshotKey, { from, count }),
    getInstance: (tenantId, id) => instances.getInstance(driver, tenantId, id),
    getFrontier: (tenantId, id) => instances.getFrontier(driver, tenantId, id),
    listChildren: (tenantId, id, page) => instances.listChildren(driver, tenantId, id, page),
    listOpenGates: (query) => instances.listOpenGates(driver, query),
    listOutputs: async (tenantId, id, which) => (await outputs()).listOutputs(driver, tenantId, id, which),
    getOutput: async (tenantId, id, rowId) => (await outputs()).getOutput(driver, tenantId, id, rowId),
    listNodeRows: async (tenantId, id) => (await records()).listNodeRows(driver, tenantId, id),
    listAudit: async (tenantId, id, limit) => (await records()).listAudit(driver, tenantId, id, limit),
    listJournal: async (tenantId, id, limit) => (await journal()).listJournal(driver, tenantId, id, limit),
    listLogs: async (tenantId, id, limit) => (await records()).listLogs(driver, tenantId, id, limit),
    getTask: async (tenantId, taskId) => (await tasks()).getTask(driver, tenantId, taskId),
    listTasks: async (query) => (await tasks()).listTasks(driver, query),
    listTaskEvents: async (tenantId, taskId, limit) =>
      (await tasks()).listTaskEvents(driver, tenantId, taskId, limit),
    taskStats: async (tenantId) => (await tasks()).taskStats(driver, tenantId),
    listWorkers: async (tenantId, aliveWithinMs, includeStale, page) =>
      (await tasks()).listWorkers(driver, tenantId, { aliveWithinMs, includeStale, page }),
    hasWorkerFor: async (handlerName, withinMs) =>
      (await tasks()).hasWorkerFor(driver, handlerName, withinMs),
    ping: () => ping(driver),
  };
}

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
