import { isTerminal } from '../../core/run/states.ts';
import type { NewChild, TurnCommit } from '../../ports/store/turn.ts';
import { type Tx, saveInstance } from './database.ts';
import { type InstanceRow, stored } from './rows.ts';
import { newInstanceRow } from './start.ts';
import { acceptSignal } from './wake.ts';

export function applyChildren(tx: Tx, parent: InstanceRow, turn: TurnCommit): void {
  for (const child of turn.childrenStarted) startChild(tx, parent, child);
  for (const { instanceId, signalId } of turn.childrenCancelled)
    cancelChild(tx, parent, instanceId, signalId);
}

/** [SUB-3], [SUB-5]; unique per (parent, node, iteration, entry) (RULINGS A17). */
function startChild(tx: Tx, parent: InstanceRow, child: NewChild): void {
  const entry = JSON.stringify([child.blockId, child.iteration, child.entry]);
  if (tx.db.children.of(parent.id).has(entry) || tx.db.instances.has(child.id)) {
    throw new Error(`Block ${child.blockId} has a child for this entry already.`);
  }
  tx.db.children.of(parent.id).put(entry, child.id);
  const row = newInstanceRow(tx, {
    id: child.id,
    runId: child.runId,
    tenantId: parent.tenantId,
    namespace: parent.namespace,
    sequenceId: child.sequenceId,
    priority: parent.priority,
    timezone: parent.timezone,
    metadata: stored(child.metadata),
    data: stored(child.data),
    config: {},
    audit: [],
    nextFireAt: null,
    concurrencyKey: null,
    maxConcurrency: null,
    idempotencyKey: null,
    sessionId: parent.sessionId,
    budget: parent.budget,
    dryRun: parent.dryRun,
    dryRunAutoApprove: parent.dryRunAutoApprove,
    dryRunRealTime: parent.dryRunRealTime ?? false,
    originalInput: stored(child.data),
  });
  const { blockId, iteration } = child;
  const parentRef = { instanceId: parent.id, blockId, iteration, entry: child.entry };
  saveInstance(tx, { ...row, parent: parentRef, depth: parent.depth + 1 });
}

/** A child that has ended, or has this very signal, needs none. */
export function cancelChild(tx: Tx, parent: InstanceRow, childId: string, signalId: string): void {
  const child = tx.db.instances.get(childId);
  if (child === undefined || child.parent?.instanceId !== parent.id || isTerminal(child.state)) return;
  if (tx.db.inbox.of(childId).has(signalId)) return;
  acceptSignal(tx, child, { id: signalId, signalType: 'cancel', payload: null });
}
