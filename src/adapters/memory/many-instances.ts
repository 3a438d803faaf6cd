import { compareCodePoints, type JsonObject, member } from '../../core/json.ts';
import { type InstanceState, isTerminal } from '../../core/run/states.ts';
import type {
  FoundInstance,
  InstanceFilter,
  ManyInstancesStore,
  SignalManyRequest,
} from '../../ports/store/many-instances.ts';
import { type Run, type Tx, findInstance } from './database.ts';
import type { InstanceRow } from './rows.ts';
import { acceptSignal } from './wake.ts';

export function manyInstancesPart(run: Run): ManyInstancesStore {
  return {
    findInstances: (filter, limit) => run((tx) => findInstances(tx, filter, limit)),
    signalMany: (request) => run((tx) => signalMany(tx, request)),
    noteBatchAction: (tenantId, instanceIds, fromState, details) =>
      run((tx) => {
        for (const id of instanceIds) {
          const row = findInstance(tx.db, tenantId, id);
          if (row !== null) addBatchAction(tx, row, fromState, details);
        }
      }),
    hasHigherDue: (tenantId, priority) =>
      run(({ db, t }) =>
        db.instances
          .values()
          .some(
            (row) =>
              row.tenantId === tenantId &&
              row.priority > priority &&
              row.leaseUntil === null &&
              row.dueAt !== null &&
              row.dueAt <= t,
          ),
      ),
  };
}

function findInstances(tx: Tx, filter: InstanceFilter, limit: number): readonly FoundInstance[] {
  const { tenantId, namespace, sequenceId, states, metadata } = filter;
  return tx.db.instances
    .values()
    .filter((row) => row.tenantId === tenantId)
    .filter((row) => namespace === null || row.namespace === namespace)
    .filter((row) => sequenceId === null || row.sequenceId === sequenceId)
    .filter((row) => states.length === 0 || states.includes(row.state))
    .filter((row) => metadata.every(([key, value]) => member(row.metadata, key) === value))
    .sort((a, b) => a.updatedAt - b.updatedAt || compareCodePoints(a.id, b.id))
    .slice(0, limit)
    .map(({ id, state }) => ({ id, state }));
}

function signalMany(tx: Tx, request: SignalManyRequest): ReadonlySet<string> {
  const taken = new Set<string>();
  for (const { instanceId, signalId } of request.signals) {
    const row = findInstance(tx.db, request.tenantId, instanceId);
    if (row === null) continue;
    const repeated = tx.db.inbox.of(row.id).has(signalId);
    if (isTerminal(row.state) && !repeated) continue;
    taken.add(row.id);
    if (repeated) continue;
    const { signalType, payload } = request;
    const accepted = acceptSignal(tx, row, { id: signalId, signalType, payload });
    addBatchAction(tx, accepted, row.state, request.details);
  }
  return taken;
}

function addBatchAction(tx: Tx, row: InstanceRow, fromState: InstanceState, details: JsonObject): void {
  const id = tx.newId();
  const entry = {
    id,
    instanceId: row.id,
    tenantId: row.tenantId,
    eventType: 'batch_action' as const,
    fromState,
    toState: null,
    blockId: null,
    details,
    createdAt: tx.t,
  };
  tx.db.audit.of(row.id).put(id, Object.freeze(entry));
}
