import { compareCodePoints } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type {
  CatalogStore,
  DeployedAnswer,
  DeployedSequence,
  NewSequence,
  NewTrigger,
  SequenceName,
  SequenceRecord,
  TriggerRecord,
  WantedVersion,
} from '../../ports/store/catalog.ts';
import type { Database, Tx } from './database.ts';
import { stored } from './rows.ts';
import { isMigrationTarget } from './shape.ts';

export function insertSequence(tx: Tx, sequence: NewSequence): 'created' | 'id_exists' | 'version_exists' {
  if (tx.db.sequences.has(sequence.id)) return 'id_exists';
  if (ofName(tx.db, sequence).some(({ version }) => version === sequence.version)) return 'version_exists';
  tx.db.sequences.put(sequence.id, stored({ ...sequence, createdAt: tx.t }));
  return 'created';
}

export function publishDeployed(tx: Tx, deployed: DeployedSequence): DeployedAnswer {
  const { deployedAt, newestSeen, contentHash } = deployed;
  const key = JSON.stringify([deployed.tenantId, deployed.namespace, deployed.name]);
  const last = tx.db.deployed.get(key);
  if (deployedAt !== null && last !== undefined && last.deployedAt >= deployedAt) {
    return last.deployedAt === deployedAt ? 'known' : 'superseded';
  }
  const newest = ofName(tx.db, deployed)[0]?.version ?? null;
  if (newest !== newestSeen) return 'moved';
  const isRepeat = newest !== null && last?.contentHash === contentHash;
  const sequence = isRepeat ? null : deployed.sequence;
  const inserted = sequence === null ? 'created' : insertSequence(tx, sequence);
  if (inserted !== 'created') return inserted === 'id_exists' ? 'id_exists' : 'moved';
  const at = Math.max(last?.deployedAt ?? 0, deployedAt ?? tx.t);
  tx.db.deployed.put(key, { deployedAt: at, contentHash });
  return sequence === null ? 'known' : 'published';
}

export function getSequence(db: Database, tenantId: string | null, id: string): SequenceRecord | null {
  const sequence = db.sequences.get(id);
  return sequence !== undefined && mayRead(tenantId, sequence) ? sequence : null;
}

function mayRead(tenantId: string | null, row: { readonly tenantId: string }): boolean {
  return tenantId === null || row.tenantId === tenantId;
}

/** Highest version first, deprecated ones included. */
function ofName(db: Database, name: SequenceName): SequenceRecord[] {
  return db.sequences
    .values()
    .filter(
      (other) =>
        other.tenantId === name.tenantId && other.namespace === name.namespace && other.name === name.name,
    )
    .sort((a, b) => b.version - a.version);
}

export function findSequence(
  db: Database,
  name: SequenceName & { readonly version: WantedVersion },
): SequenceRecord | null {
  const versions = ofName(db, name);
  if (name.version === 'newest') return versions[0] ?? null;
  const found =
    name.version === null
      ? versions.find(({ deprecated }) => !deprecated)
      : versions.find(({ version }) => version === name.version);
  return found ?? null;
}

export function listSequences(
  db: Database,
  query: Parameters<CatalogStore['listSequences']>[0],
): readonly SequenceRecord[] {
  return db.sequences
    .values()
    .filter((row) => mayRead(query.tenantId, row))
    .filter((row) => query.namespace === null || row.namespace === query.namespace)
    .filter((row) => (query.name ?? null) === null || row.name === query.name)
    .sort(
      (a, b) =>
        compareCodePoints(a.tenantId, b.tenantId) ||
        compareCodePoints(a.namespace, b.namespace) ||
        compareCodePoints(a.name, b.name) ||
        b.version - a.version,
    )
    .slice(query.offset, query.offset + query.limit);
}

export function listVersions(db: Database, name: SequenceName): readonly SequenceRecord[] {
  return ofName(db, name).filter(({ deprecated }) => !deprecated);
}

export function deprecateSequence(tx: Tx, tenantId: string | null, id: string): boolean {
  const row = getSequence(tx.db, tenantId, id);
  if (row === null) return false;
  tx.db.sequences.put(id, stored({ ...row, deprecated: true }));
  return true;
}

export function setSequenceStatus(
  tx: Tx,
  tenantId: string | null,
  id: string,
  change: { readonly from: string; readonly to: string },
): 'changed' | 'not_found' | 'stale' {
  const row = getSequence(tx.db, tenantId, id);
  if (row === null) return 'not_found';
  if (row.status !== change.from || !isStatus(change.to)) return 'stale';
  const deprecated = row.deprecated || change.to === 'unpublished';
  tx.db.sequences.put(id, stored({ ...row, status: change.to, deprecated }));
  return 'changed';
}

function isStatus(word: string): word is SequenceRecord['status'] {
  return word === 'draft' || word === 'staging' || word === 'production' || word === 'unpublished';
}

export function deleteSequence(
  tx: Tx,
  tenantId: string | null,
  id: string,
): 'deleted' | 'not_found' | 'in_use' {
  if (getSequence(tx.db, tenantId, id) === null) return 'not_found';
  const instances = tx.db.instances.values().filter((row) => row.sequenceId === id);
  if (instances.some((row) => !isTerminal(row.state)) || isMigrationTarget(tx, id)) return 'in_use';
  for (const instance of instances) removeInstance(tx, instance.id);
  for (const schedule of tx.db.schedules.values()) {
    if (schedule.sequenceId === id) tx.db.schedules.remove(schedule.id);
  }
  tx.db.sequences.remove(id);
  return 'deleted';
}

function removeInstance(tx: Tx, id: string): void {
  const { db } = tx;
  for (const task of db.tasks.of(id).values()) {
    db.taskEvents.clear(task.id);
    db.taskOwners.remove(task.id);
  }
  const groups: readonly { clear(group: string): void }[] = [
    db.frames,
    db.shapeChanges,
    db.checkpoints,
    db.outputs,
    db.outputKeys,
    db.inbox,
    db.inboxOpen,
    db.kv,
    db.values,
    db.audit,
    db.journal,
    db.logs,
    db.tasks,
    db.children,
    db.blobs,
  ];
  for (const group of groups) group.clear(id);
  for (const [key, owner] of db.startKeys.entries()) {
    if (owner === id) db.startKeys.remove(key);
  }
  db.instances.remove(id);
}

export function insertTrigger(tx: Tx, trigger: NewTrigger): 'created' | 'exists' {
  if (tx.db.triggers.has(trigger.slug)) return 'exists';
  tx.db.triggers.put(trigger.slug, stored({ ...trigger, createdAt: tx.t, updatedAt: tx.t }));
  return 'created';
}

export function getTrigger(db: Database, tenantId: string | null, slug: string): TriggerRecord | null {
  const trigger = db.triggers.get(slug);
  return trigger !== undefined && mayRead(tenantId, trigger) ? trigger : null;
}

export function listTriggers(db: Database, tenantId: string | null, limit: number): readonly TriggerRecord[] {
  return db.triggers
    .values()
    .filter((row) => mayRead(tenantId, row))
    .sort((a, b) => a.createdAt - b.createdAt || compareCodePoints(a.slug, b.slug))
    .slice(0, limit);
}

export function deleteTrigger(tx: Tx, tenantId: string | null, slug: string): boolean {
  if (getTrigger(tx.db, tenantId, slug) === null) return false;
  tx.db.triggers.remove(slug);
  return true;
}
