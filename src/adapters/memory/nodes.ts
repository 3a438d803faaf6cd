import { compareCodePoints } from '../../core/json.ts';
import type { ClusterNode, NodeStore } from '../../ports/store/nodes.ts';
import type { Run, Tx } from './database.ts';
import type { ProcessRow } from './rows.ts';

const FORGOTTEN_AFTER_MS = 86_400_000;

export function heartbeat(tx: Tx, id: string, name: string, silentMs: number | null): boolean {
  const { nodes } = tx.db;
  const before = nodes.get(id);
  const node: ProcessRow = {
    ...{ registeredAt: tx.t, drainStartedAt: null },
    ...before,
    ...{ id, name, lastHeartbeatAt: tx.t, stoppedAt: null },
  };
  nodes.put(id, node);
  if (silentMs !== null) stopSilent(tx, silentMs);
  return node.drainStartedAt !== null;
}

function stopSilent(tx: Tx, silentMs: number): void {
  for (const node of tx.db.nodes.values()) {
    const { id, lastHeartbeatAt, stoppedAt } = node;
    if (stoppedAt === null && lastHeartbeatAt <= tx.t - silentMs) {
      tx.db.nodes.put(id, { ...node, stoppedAt: tx.t });
    } else if (stoppedAt !== null && stoppedAt <= tx.t - FORGOTTEN_AFTER_MS) tx.db.nodes.remove(id);
  }
}

/** Sets an instant of a node that has none yet. */
function mark(tx: Tx, id: string, what: 'drainStartedAt' | 'stoppedAt'): void {
  const node = tx.db.nodes.get(id);
  if (node !== undefined && node[what] === null) tx.db.nodes.put(id, { ...node, [what]: tx.t });
}

function statusOf({ stoppedAt, drainStartedAt }: ProcessRow): ClusterNode['status'] {
  if (stoppedAt !== null) return 'stopped';
  return drainStartedAt === null ? 'active' : 'draining';
}

function inOrder(a: ProcessRow, b: ProcessRow): number {
  const stopped = Number(a.stoppedAt !== null) - Number(b.stoppedAt !== null);
  return stopped || a.registeredAt - b.registeredAt || compareCodePoints(a.id, b.id);
}

/** The part of the store that knows the processes. */
export function nodePart(run: Run): NodeStore {
  return {
    heartbeatNode: (id, name, silentMs) => run((tx) => heartbeat(tx, id, name, silentMs)),
    drainNode: (id) => run((tx) => mark(tx, id, 'drainStartedAt')),
    stopNode: (id) => run((tx) => mark(tx, id, 'stoppedAt')),
    listNodes: (limit) =>
      run((tx) => {
        const first = tx.db.nodes.values().sort(inOrder).slice(0, limit);
        return first.map((node) => ({ ...node, status: statusOf(node) }));
      }),
  };
}
