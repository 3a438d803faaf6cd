import { compareCodePoints } from '../../core/json.ts';
import { isAtLeast } from '../../core/worker-versions.ts';
import type { PollRequest } from '../../ports/store/accept.ts';
import type { NewTask } from '../../ports/store/turn.ts';
import type {
  RoutingRule,
  VersionPin,
  WorkerAdminStore,
  WorkerCommand,
} from '../../ports/store/worker-admin.ts';
import type { Run, Tx } from './database.ts';
import { stored } from './rows.ts';

/** The part of the store for what administrators say about workers. */
export function workerAdminPart(run: Run): WorkerAdminStore {
  return { ...commandPart(run), ...pinPart(run), ...rulePart(run) };
}

type CommandPart = Pick<WorkerAdminStore, 'insertCommand' | 'listCommands' | 'deleteCommand'>;

function commandPart(run: Run): CommandPart {
  return {
    insertCommand: (command) =>
      run((tx) => {
        const row: WorkerCommand = { ...command, createdAt: tx.t };
        tx.db.commands.put(row.id, stored(row));
        return row;
      }),
    listCommands: (tenantId, workerId, limit) =>
      run((tx) => {
        if (!isWorkerOf(tx, tenantId, workerId)) return [];
        const own = tx.db.commands.values().filter((row) => row.workerId === workerId);
        return own.sort(byAge).slice(0, limit);
      }),
    deleteCommand: (tenantId, id) =>
      run((tx) => {
        const row = tx.db.commands.get(id);
        if (row === undefined || !isWorkerOf(tx, tenantId, row.workerId)) return false;
        tx.db.commands.remove(id);
        return true;
      }),
  };
}

function isWorkerOf(tx: Tx, tenantId: string | null, workerId: string): boolean {
  return (
    tenantId === null ||
    tx.db.workers.values().some((row) => row.tenantId === tenantId && row.workerId === workerId)
  );
}

const pinKey = (tenantId: string, handlerName: string): string => JSON.stringify([tenantId, handlerName]);

type PinPart = Pick<WorkerAdminStore, 'putVersionPin' | 'listVersionPins' | 'deleteVersionPin'>;

function pinPart(run: Run): PinPart {
  return {
    putVersionPin: (tenantId, handlerName, minVersion) =>
      run((tx) => {
        const key = pinKey(tenantId, handlerName);
        const createdAt = tx.db.pins.get(key)?.createdAt ?? tx.t;
        const pin: VersionPin = { tenantId, handlerName, minVersion, createdAt, updatedAt: tx.t };
        tx.db.pins.put(key, pin);
        return pin;
      }),
    listVersionPins: (tenantId, limit) =>
      run((tx) => {
        const own = tx.db.pins.values().filter((pin) => tenantId === null || pin.tenantId === tenantId);
        return own.sort(byTenantAndHandler).slice(0, limit);
      }),
    deleteVersionPin: (tenantId, handlerName) =>
      run((tx) => {
        const key = pinKey(tenantId, handlerName);
        const existed = tx.db.pins.has(key);
        if (existed) tx.db.pins.remove(key);
        return existed;
      }),
  };
}

function byTenantAndHandler(a: VersionPin, b: VersionPin): number {
  return compareCodePoints(a.tenantId, b.tenantId) || compareCodePoints(a.handlerName, b.handlerName);
}

/** Whether the pin of a tenant keeps its tasks from this worker. */
export function refusesWorker(tx: Tx, tenantId: string, { handlerName, version }: PollRequest): boolean {
  const pin = tx.db.pins.get(pinKey(tenantId, handlerName));
  return pin !== undefined && (version === null || !isAtLeast(version, pin.minVersion));
}

type RulePart = Pick<
  WorkerAdminStore,
  'insertRoutingRule' | 'listRoutingRules' | 'getRoutingRule' | 'deleteRoutingRule'
>;

function rulePart(run: Run): RulePart {
  const find = (tx: Tx, tenantId: string | null, id: string): RoutingRule | null => {
    const rule = tx.db.rules.get(id);
    return rule !== undefined && (tenantId === null || rule.tenantId === tenantId) ? rule : null;
  };
  return {
    insertRoutingRule: (rule) =>
      run((tx) => {
        const row: RoutingRule = { ...rule, createdAt: tx.t, updatedAt: tx.t };
        tx.db.rules.put(row.id, row);
        return row;
      }),
    listRoutingRules: (tenantId, limit) =>
      run((tx) => {
        const own = tx.db.rules.values().filter((rule) => tenantId === null || rule.tenantId === tenantId);
        return own.sort(byPriority).slice(0, limit);
      }),
    getRoutingRule: (tenantId, id) => run((tx) => find(tx, tenantId, id)),
    deleteRoutingRule: (tenantId, id) =>
      run((tx) => {
        const found = find(tx, tenantId, id) !== null;
        if (found) tx.db.rules.remove(id);
        return found;
      }),
  };
}

/** The queue of a new task: that of the first rule of its handler that fits, else the one that the step names. */
export function routedQueue(
  tx: Tx,
  tenantId: string,
  { handlerName, queueName }: Pick<NewTask, 'handlerName' | 'queueName'>,
): string | null {
  const fits = (rule: RoutingRule): boolean =>
    rule.enabled &&
    rule.tenantId === tenantId &&
    rule.handlerName === handlerName &&
    (rule.matchQueue === null || rule.matchQueue === queueName);
  return tx.db.rules.values().filter(fits).sort(byPriority)[0]?.queueOverride ?? queueName;
}

function byPriority(a: RoutingRule, b: RoutingRule): number {
  return b.priority - a.priority || byAge(a, b);
}

interface Aged {
  readonly id: string;
  readonly createdAt: number;
}

function byAge(a: Aged, b: Aged): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.id, b.id);
}
