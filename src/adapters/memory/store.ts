import type { AcceptStore } from '../../ports/store/accept.ts';
import type { CatalogStore } from '../../ports/store/catalog.ts';
import type { HandlerNameStore } from '../../ports/store/handler-names.ts';
import type { ReadStore } from '../../ports/store/reads.ts';
import type { ShapeStore } from '../../ports/store/shape.ts';
import type { Store } from '../../ports/store/store.ts';
import type { TurnStore } from '../../ports/store/turn.ts';
import { apiKeyPart } from './api-keys.ts';
import { boundedRun } from './bounded-run.ts';
import * as catalog from './catalog.ts';
import { listChanges } from './changes.ts';
import { claimDue, claimExpired, claimOne } from './claims.ts';
import { commitTurns } from './commit.ts';
import { blobPart, credentialPart } from './credentials.ts';
import { eventPart } from './events.ts';
import { type Run, atomically, createDatabase, createIds } from './database.ts';
import { patchContext, signal } from './facts.ts';
import { announceHandlers, listLiveHandlers } from './handler-names.ts';
import { limitPart } from './limit-store.ts';
import { instanceListPart } from './instance-lists.ts';
import {
  countDue,
  listUpcoming,
  nextWake,
  peekInbox,
  releaseLeases,
  renewLeases,
  voidAllLeases,
} from './leases.ts';
import { endKeyLeases, idempotencyPart } from './idempotency.ts';
import { inspectionPart } from './inspection.ts';
import { itemPart } from './items.ts';
import { manyInstancesPart } from './many-instances.ts';
import { fork, getHistory, listTimeline } from './history.ts';
import * as instances from './reads-instances.ts';
import { nodePart } from './nodes.ts';
import { outboxPart } from './outbox.ts';
import { pageOf } from './page-of.ts';
import { listJournal } from './reads-journal.ts';
import * as taskReads from './reads-tasks.ts';
import { pluginPart } from './plugins.ts';
import { schedulePart } from './schedules.ts';
import { sessionPart } from './sessions.ts';
import { FullPlan, KnownKey, removeExpired, start } from './start.ts';
import * as shape from './shape.ts';
import { releaseSilentTasks } from './silent-tasks.ts';
import { heartbeatTask, pollTasks, reportTask } from './tasks.ts';
import { sweepPart } from './sweeps.ts';
import { wakePart } from './wakes.ts';
import { workerAdminPart } from './worker-admin.ts';

/**
 * A store in this process's memory, for tests and dry runs: the semantics of the database adapters without their
 * durability. What goes in is copied, what comes out is frozen.
 *
 * @param options.now The store's clock, epoch milliseconds: what the database's clock is to the others.
 */
export function createMemoryStore(options: { readonly now: () => number }): Store {
  const db = createDatabase();
  const newId = createIds(options.now);
  // The body runs before the first await, so operations are carried out in the order of the calls, one by one.
  const run: Run = async (operation) => atomically(db, { t: options.now(), newId }, operation);
  return createStoreOver(run);
}

function createStoreOver(run: Run): Store {
  const store: Store = {
    ...turnPart(run),
    ...acceptPart(run),
    ...catalogPart(run),
    ...handlerPart(run),
    ...schedulePart(run),
    ...sessionPart(run),
    ...manyInstancesPart(run),
    ...eventPart(run),
    ...blobPart(run),
    ...credentialPart(run),
    ...pluginPart(run),
    ...apiKeyPart(run),
    ...limitPart(run),
    ...inspectionPart(run),
    ...wakePart(run),
    ...sweepPart(run),
    ...itemPart(run),
    ...outboxPart(run),
    ...workerAdminPart(run),
    ...nodePart(run),
    ...shapePart(run),
    ...readPart(run),
    ...instanceListPart(run),
    getHistory: (tenantId, id) => run((tx) => getHistory(tx, tenantId, id)),
    fork: (request) => run((tx) => fork(tx, request)),
    listTimeline: (tenantId, id, page) => run((tx) => listTimeline(tx, tenantId, id, page)),
    listChanges: (query) => run((tx) => listChanges(tx, query)),
    ...idempotencyPart(run, () => store),
    withinBytes: (maxBytes) => ({
      ...createStoreOver(boundedRun(run, maxBytes)),
      getBlob: (key, artifactId, most) => store.getBlob(key, artifactId, most),
      getOutput: (tenantId, id, rowId) => store.getOutput(tenantId, id, rowId),
      pageInstances: (query, most) => store.pageInstances(query, most),
    }),
    close: () => Promise.resolve(),
  };
  return store;
}

function shapePart(run: Run): ShapeStore {
  return {
    acceptChange: (request) => run((tx) => shape.acceptChange(tx, request)),
    listShapeChanges: (key) => run((tx) => shape.listShapeChanges(tx, key)),
    addCheckpoint: (checkpoint) => run((tx) => shape.addCheckpoint(tx, checkpoint)),
    listCheckpoints: (tenantId, id, limit) => run((tx) => shape.listCheckpoints(tx, tenantId, id, limit)),
    pruneCheckpoints: (tenantId, id, keep) => run((tx) => shape.pruneCheckpoints(tx, tenantId, id, keep)),
  };
}

function turnPart(run: Run): TurnStore {
  return {
    claimDue: (request) => run((tx) => claimDue(tx, request)),
    claimOne: (request) => run((tx) => claimOne(tx, request)),
    claimExpired: (request) => run((tx) => claimExpired(tx, request)),
    commit: (turns) => run((tx) => commitTurns(tx, turns)),
    renewLeases: (leases, leaseMs) => run((tx) => renewLeases(tx, leases, leaseMs)),
    releaseLeases: (leases) => run((tx) => releaseLeases(tx, leases)),
    voidAllLeases: () =>
      run((tx) => {
        endKeyLeases(tx);
        return voidAllLeases(tx);
      }),
    peekInbox: (leases) => run((tx) => peekInbox(tx, leases)),
    nextWake: () => run(nextWake),
    countDue: (limit) => run((tx) => countDue(tx, limit)),
    listUpcoming: (request) => run((tx) => listUpcoming(tx, request)),
  };
}

function acceptPart(run: Run): AcceptStore {
  return {
    async start(request) {
      try {
        return await run((tx) => start(tx, request));
      } catch (error) {
        if (error instanceof KnownKey) return { status: 'known_key', index: error.index };
        if (error instanceof FullPlan) return { status: error.status, tenantId: error.tenantId };
        throw error;
      }
    },
    signal: (request) => run((tx) => signal(tx, request)),
    patchContext: (request) => run((tx) => patchContext(tx, request)),
    reportTask: (request) => run((tx) => reportTask(tx, request)),
    heartbeatTask: (request) => run((tx) => heartbeatTask(tx, request)),
    pollTasks: (request) => run((tx) => pollTasks(tx, request)),
    releaseSilentTasks: (silentMs, limit) => run((tx) => releaseSilentTasks(tx, silentMs, limit)),
    removeExpired: (limit) => run((tx) => removeExpired(tx, limit)),
  };
}

function catalogPart(run: Run): CatalogStore {
  return {
    insertSequence: (sequence) => run((tx) => catalog.insertSequence(tx, sequence)),
    publishDeployed: (sequence) => run((tx) => catalog.publishDeployed(tx, sequence)),
    getSequence: (tenantId, id) => run(({ db }) => catalog.getSequence(db, tenantId, id)),
    findSequence: (name) => run(({ db }) => catalog.findSequence(db, name)),
    listSequences: (query) => run(({ db }) => catalog.listSequences(db, query)),
    listVersions: (name) => run(({ db }) => catalog.listVersions(db, name)),
    deprecateSequence: (tenantId, id) => run((tx) => catalog.deprecateSequence(tx, tenantId, id)),
    setSequenceStatus: (tenantId, id, from, to) =>
      run((tx) => catalog.setSequenceStatus(tx, tenantId, id, { from, to })),
    deleteSequence: (tenantId, id) => run((tx) => catalog.deleteSequence(tx, tenantId, id)),
    insertTrigger: (trigger) => run((tx) => catalog.insertTrigger(tx, trigger)),
    getTrigger: (tenantId, slug) => run(({ db }) => catalog.getTrigger(db, tenantId, slug)),
    listTriggers: (tenantId, limit) => run(({ db }) => catalog.listTriggers(db, tenantId, limit)),
    deleteTrigger: (tenantId, slug) => run((tx) => catalog.deleteTrigger(tx, tenantId, slug)),
  };
}

function handlerPart(run: Run): HandlerNameStore {
  return {
    announceHandlers: (announcement, within) => run((tx) => announceHandlers(tx, announcement, within)),
    listLiveHandlers: (within) => run((tx) => listLiveHandlers(tx, within)),
  };
}

function readPart(run: Run): ReadStore {
  return {
    readOutputs: (key, blockIds) => run((tx) => instances.readOutputs(tx, key, blockIds)),
    readState: (key, keys) => run((tx) => instances.readState(tx, key, keys)),
    countState: (key) => run((tx) => instances.countState(tx, key)),
    readItems: (key, snapshotKey, from, count) =>
      run((tx) => instances.readItems(tx, key, snapshotKey, { from, count })),
    getInstance: (tenantId, id) => run((tx) => instances.getInstance(tx, tenantId, id)),
    listOutputs: (tenantId, id, which) => run((tx) => instances.listOutputs(tx, tenantId, id, which)),
    getOutput: (tenantId, id, rowId) => run((tx) => instances.getOutput(tx, tenantId, id, rowId)),
    listNodeRows: (tenantId, id) => run((tx) => instances.listNodeRows(tx, tenantId, id)),
    getFrontier: (tenantId, id) => run((tx) => instances.getFrontier(tx, tenantId, id)),
    listChildren: (tenantId, id, page) => run((tx) => instances.listChildren(tx, tenantId, id, page)),
    listAudit: (tenantId, id, limit) => run((tx) => instances.listAudit(tx, tenantId, id, limit)),
    listJournal: (tenantId, id, limit) => run((tx) => listJournal(tx, tenantId, id, limit)),
    listLogs: (tenantId, id, limit) => run((tx) => instances.listLogs(tx, tenantId, id, limit)),
    listOpenGates: (query) => run((tx) => instances.listOpenGates(tx, query)),
    getTask: (tenantId, taskId) => run(({ db }) => taskReads.getTask(db, tenantId, taskId)),
    listTasks: (query) => run(({ db }) => taskReads.listTasks(db, query)),
    listTaskEvents: (tenantId, taskId, limit) =>
      run(({ db }) => taskReads.listTaskEvents(db, tenantId, taskId, limit)),
    taskStats: (tenantId) => run(({ db }) => taskReads.taskStats(db, tenantId)),
    listWorkers: (tenantId, aliveWithinMs, includeStale, page) =>
      run((tx) => pageOf(taskReads.listWorkers(tx, tenantId, aliveWithinMs, includeStale), page)),
    hasWorkerFor: (handlerName, withinMs) => run((tx) => taskReads.hasWorkerFor(tx, handlerName, withinMs)),
    ping: () => run(({ t }) => ({ now: t, schemaVersion: MEMORY_SCHEMA_VERSION })),
  };
}

/** There is no schema that could be behind; any positive number says so. */
const MEMORY_SCHEMA_VERSION = 1;
