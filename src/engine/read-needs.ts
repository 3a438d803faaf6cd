import type { Json } from '../core/json.ts';
import type { Draft } from '../core/run/draft.ts';
import type { KnownSequence, Needs } from '../core/run/knowledge.ts';
import { rowView } from '../core/run/output-row.ts';
import type { InstanceKey } from '../ports/store/reads.ts';
import { readItemNeeds } from './read-item-needs.ts';
import type { TurnReads } from './turn-reads.ts';

const ITEMS_PER_READ = 100;

/** Reads all that the core asked for and tells it. */
export async function readNeeds(
  store: TurnReads,
  draft: Draft,
  needs: Needs,
  key: InstanceKey = { tenantId: draft.record.tenantId, instanceId: draft.record.id },
): Promise<void> {
  const [outputs, state] = await Promise.all([
    readOutputs(store, key, needs),
    readState(store, key, needs),
    ...needs.items.map((item) => readItems(store, key, draft, item)),
    ...needs.sequences.map((wanted) => readSequence(store, draft, wanted)),
    ...needs.childRows.map((childId) => readChildRows(store, draft, childId)),
    readItemNeeds(store, key, draft.knowledge, needs.fanOut),
  ]);
  draft.knowledge.learn(needs, { outputs, state });
}

async function readOutputs(
  store: TurnReads,
  key: InstanceKey,
  needs: Needs,
): Promise<ReadonlyMap<string, Json>> {
  if (needs.outputs !== 'all' && needs.outputs.size === 0) return new Map();
  return store.readOutputs(key, needs.outputs === 'all' ? 'all' : [...needs.outputs]);
}

async function readState(
  store: TurnReads,
  key: InstanceKey,
  needs: Needs,
): Promise<ReadonlyMap<string, Json>> {
  if (needs.state !== 'all' && needs.state.size === 0) return new Map();
  return store.readState(key, needs.state === 'all' ? 'all' : [...needs.state]);
}

async function readItems(
  store: TurnReads,
  key: InstanceKey,
  draft: Draft,
  item: Needs['items'][number],
): Promise<void> {
  const values = await store.readItems(key, item.snapshotKey, item.from, ITEMS_PER_READ);
  if (values.length === 0)
    throw new Error(`the stored collection ${item.snapshotKey} has no item ${item.from}`);
  draft.knowledge.setItems(item.snapshotKey, item.from, values);
}

/** [SUB-2]: same tenant and namespace as the parent's sequence; name to version is looked up at each use. */
async function readSequence(
  store: TurnReads,
  draft: Draft,
  wanted: Needs['sequences'][number],
): Promise<void> {
  const found = await store.findSequence({
    tenantId: draft.record.tenantId,
    namespace: draft.plan.document.namespace,
    name: wanted.name,
    version: wanted.version,
  });
  draft.knowledge.setSequence(wanted.name, wanted.version, found === null ? null : known(found));
}

function known(found: {
  readonly id: string;
  readonly definition: { readonly [key: string]: Json };
}): KnownSequence {
  return { sequenceId: found.id, inputSchema: found.definition['input_schema'] ?? null };
}

/** [SUB-7]: the child's rows as the outputs listing shows them, hidden ones left out. */
async function readChildRows(store: TurnReads, draft: Draft, childId: string): Promise<void> {
  const rows = await store.listOutputs(draft.record.tenantId, childId, { node: false, retry: false });
  draft.knowledge.setChildRows(childId, (rows ?? []).map(rowView));
}
