import type { JsonObject } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { InstanceKey } from '../../ports/store/reads.ts';
import type {
  ChangeAnswer,
  ChangeRequest,
  Checkpoint,
  NewChange,
  NewCheckpoint,
  ShapeChange,
} from '../../ports/store/shape.ts';
import type { TurnCommit } from '../../ports/store/turn.ts';
import { type Tx, findInstance, saveInstance } from './database.ts';
import { type ChangeRow, type InstanceRow, stored } from './rows.ts';
import { acceptFact } from './wake.ts';

export function acceptChange(tx: Tx, request: ChangeRequest): ChangeAnswer {
  const { change, id } = request;
  if (change.kind === 'migrate' && tx.db.sequences.get(change.sequenceId) === undefined) {
    return { status: 'no_sequence' };
  }
  const row = findInstance(tx.db, request.tenantId, request.instanceId);
  if (row === null) return { status: 'not_found' };
  const known = changesOf(tx, row.id).find((other) => other.id === id);
  if (known !== undefined) {
    return { status: 'accepted', number: known.number, isTerminal: isTerminal(row.state) };
  }
  const accepted = row.shape?.accepted ?? 0;
  if (accepted !== request.expected) return { status: 'stale' };
  if (change.kind === 'migrate' && isTerminal(row.state)) return { status: 'terminal' };
  const number = accepted + 1;
  addChange(tx, row.id, { id, number, change, refused: null });
  const changed = saveInstance(tx, {
    ...row,
    shape: stored({ accepted: number, applied: row.shape?.applied ?? 0 }),
    injected: injectedBlocks(tx, row.id),
  });
  if (!isTerminal(row.state)) {
    acceptFact(tx, changed, { id, fact: { kind: 'shape', change: number }, moves: false });
  }
  return { status: 'accepted', number, isTerminal: isTerminal(row.state) };
}

function addChange(tx: Tx, instanceId: string, row: ChangeRow): void {
  const changes = tx.db.shapeChanges.of(instanceId);
  if (changes.has(String(row.number))) throw new Error(`Change ${row.number} is there already.`);
  changes.put(String(row.number), stored(row));
}

function changesOf(tx: Pick<Tx, 'db'>, instanceId: string): readonly ChangeRow[] {
  return tx.db.shapeChanges.of(instanceId).values();
}

export function listShapeChanges(tx: Tx, { tenantId, instanceId }: InstanceKey): readonly ShapeChange[] {
  if (findInstance(tx.db, tenantId, instanceId) === null) return [];
  return changesOf(tx, instanceId).map(({ number, change, refused }) => ({ number, change, refused }));
}

/** What a turn has made of changes, in its commit. */
export function applyShape(tx: Tx, row: InstanceRow, turn: TurnCommit): InstanceRow {
  const { shape, sequenceId = row.sequenceId } = turn.instance;
  if (shape === undefined) return row;
  for (const { id, change: number, ...injection } of shape.added ?? []) {
    addChange(tx, row.id, { id, number, change: { kind: 'inject', ...injection }, refused: null });
  }
  for (const { change, reason } of shape.refused ?? []) {
    const changes = tx.db.shapeChanges.of(row.id);
    const refused = changes.get(String(change));
    if (refused !== undefined) changes.put(String(change), stored({ ...refused, refused: reason }));
  }
  const { applied } = shape;
  // A change that was accepted while the turn was on its way stays accepted.
  const accepted = Math.max(shape.accepted, row.shape?.accepted ?? 0);
  const injected = injectedBlocks(tx, row.id);
  return { ...row, sequenceId, shape: stored({ accepted, applied }), injected };
}

/** The injected root blocks as the metadata shows them ([OP-10]). */
function injectedBlocks(tx: Tx, instanceId: string): readonly JsonObject[] {
  const changes = changesOf(tx, instanceId);
  return changes.flatMap(({ number, change }) => {
    if (change.kind !== 'inject') return [];
    return change.blocks.filter((block) => !changes.some((later) => replaces(later, number, block['id'])));
  });
}

function replaces({ number, change, refused }: ChangeRow, before: number, blockId: unknown): boolean {
  if (change.kind !== 'migrate' || refused !== null || number <= before) return false;
  return change.replaced.some((id) => id === blockId);
}

/** True while an instance that has not ended is on its way to this sequence. */
export function isMigrationTarget(tx: Pick<Tx, 'db'>, sequenceId: string): boolean {
  return tx.db.instances.values().some((row) => {
    if (isTerminal(row.state)) return false;
    const leadsThere = (change: NewChange): boolean =>
      change.kind === 'migrate' && change.sequenceId === sequenceId;
    return changesOf(tx, row.id).some(
      ({ number, change, refused }) =>
        refused === null && number > (row.shape?.applied ?? 0) && leadsThere(change),
    );
  });
}

export function addCheckpoint(tx: Tx, { tenantId, instanceId, id, data }: NewCheckpoint): boolean {
  const row = findInstance(tx.db, tenantId, instanceId);
  if (row === null) return false;
  const checkpoints = tx.db.checkpoints.of(row.id);
  if (!checkpoints.has(id)) checkpoints.put(id, stored({ id, instanceId: row.id, data, createdAt: tx.t }));
  return true;
}

export function listCheckpoints(
  tx: Tx,
  tenantId: string | null,
  instanceId: string,
  limit: number,
): readonly Checkpoint[] | null {
  const row = findInstance(tx.db, tenantId, instanceId);
  return row === null ? null : newestFirst(tx, row.id).slice(0, limit);
}

export function pruneCheckpoints(
  tx: Tx,
  tenantId: string | null,
  instanceId: string,
  keep: number,
): number | null {
  const row = findInstance(tx.db, tenantId, instanceId);
  if (row === null) return null;
  const gone = newestFirst(tx, row.id).slice(keep);
  for (const { id } of gone) tx.db.checkpoints.of(row.id).remove(id);
  return gone.length;
}

function newestFirst(tx: Tx, instanceId: string): readonly Checkpoint[] {
  return tx.db.checkpoints
    .of(instanceId)
    .values()
    .toSorted((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1));
}
