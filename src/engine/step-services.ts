import { matchEvents, type EmitKey, type WantedEvents } from '../core/run/outside.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import { isTerminal } from '../core/run/states.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import type { QueriedInstance, StepServices, TriggerTarget } from '../ports/step-services.ts';
import type { Definitions } from './definitions.ts';
import { sequenceOf } from './triggers.ts';
import type { TurnDeps } from './turn-deps.ts';
import { untilAnswered } from './until-answered.ts';

/** A wait without gate looks at no more than so many pending events of its names. */
const PENDING_MAX = 1000;

type Deps = Pick<TurnDeps, 'store' | 'definitions' | 'ids' | 'limits' | 'clock'>;

type Reads = Pick<
  TurnDeps['store'],
  | 'getInstance'
  | 'getFrontier'
  | 'listNodeRows'
  | 'listNodeRowsWithin'
  | 'listAudit'
  | 'getTrigger'
  | 'findSequence'
  | 'emitRecord'
  | 'eventWait'
  | 'pendingEvents'
  | 'putBlob'
  | 'getBlob'
>;

/** Each call is made again while the turn may wait for the store, as all reads of a turn are. */
function patient({ store, clock }: Deps, mayWait: () => boolean): Reads {
  const ask = <T>(call: () => Promise<T>): Promise<T> => untilAnswered(clock, call, mayWait);
  return {
    getInstance: (tenantId, id) => ask(() => store.getInstance(tenantId, id)),
    getFrontier: (tenantId, id) => ask(() => store.getFrontier(tenantId, id)),
    listNodeRows: (tenantId, id) => ask(() => store.listNodeRows(tenantId, id)),
    listNodeRowsWithin: (...args) => ask(() => store.listNodeRowsWithin(...args)),
    listAudit: (tenantId, id, limit) => ask(() => store.listAudit(tenantId, id, limit)),
    getTrigger: (tenantId, slug) => ask(() => store.getTrigger(tenantId, slug)),
    findSequence: (name) => ask(() => store.findSequence(name)),
    emitRecord: (tenantId, key) => ask(() => store.emitRecord(tenantId, key)),
    eventWait: (key, node) => ask(() => store.eventWait(key, node)),
    pendingEvents: (query) => ask(() => store.pendingEvents(query)),
    putBlob: (key, blob) => ask(() => store.putBlob(key, blob)),
    getBlob: (key, artifactId, maxBytes) => ask(() => store.getBlob(key, artifactId, maxBytes)),
  };
}

/** What handlers may read beyond their call, each read bound to the tenant of the run. Rejects as the store does. */
export function stepServices(
  deps: Deps,
  record: Pick<InstanceRecord, 'id' | 'tenantId' | 'metadata'>,
  node: { readonly blockId: string; readonly iteration: string },
  mayWait: () => boolean,
): StepServices {
  const store = patient(deps, mayWait);
  // What other instances are made of may have to be read as well.
  const definitions: Pick<Definitions, 'planOf'> = {
    planOf: (instance) => untilAnswered(deps.clock, () => deps.definitions.planOf(instance), mayWait),
  };
  const key = { tenantId: record.tenantId, instanceId: record.id };
  return {
    newId: () => deps.ids.newId(),
    maxContextBytes: deps.limits.maxContextBytes,
    ownMetadata: record.metadata,
    stateOf: async (id) => (await store.getInstance(record.tenantId, id))?.state ?? null,
    instance: (id) => queryInstance({ store, definitions }, record.tenantId, id),
    trigger: (slug) => findTrigger(store, record.tenantId, slug),
    emitted: (emitKey: EmitKey) => store.emitRecord(record.tenantId, emitKey),
    eventWait: () => store.eventWait(key, node),
    matchingEvents: async (wanted: WantedEvents) => {
      const { names, correlationKey } = wanted;
      const asked = { tenantId: record.tenantId, correlationKey, names, limit: PENDING_MAX };
      return matchEvents(wanted, await store.pendingEvents(asked));
    },
    putBlob: (blob) => store.putBlob(key, blob),
    getBlob: (artifactId, maxBytes) => store.getBlob(key, artifactId, maxBytes),
  };
}

interface Queried {
  readonly store: Reads;
  readonly definitions: Pick<Definitions, 'planOf'>;
}

async function queryInstance(deps: Queried, tenantId: string, id: string): Promise<QueriedInstance | null> {
  const view = await deps.store.getInstance(tenantId, id);
  if (view === null) return null;
  // Loaded when it is asked for, so that functions stay small.
  const { readTree } = await import('./read-tree.ts');
  const [tree, completedAt] = await Promise.all([readTree(deps, tenantId, id), endOf(deps, view)]);
  const nodes = (tree ?? []).filter(({ startedAt }) => startedAt !== null);
  const open = nodes.filter(({ completedAt: at }) => at === null);
  const last = open.length > 0 ? latest(open, 'startedAt') : latest(nodes, 'completedAt');
  return { view, completedAt, currentNode: last?.blockId ?? null };
}

interface Times {
  readonly blockId: string;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

/** Of equally late ones the inner one, which comes later in document order. */
function latest(nodes: readonly Times[], by: 'startedAt' | 'completedAt'): Times | null {
  return nodes.reduce<Times | null>(
    (last, node) => ((node[by] ?? 0) >= (last?.[by] ?? 0) ? node : last),
    null,
  );
}

/** The instant of the transition to the end, which later changes of the context do not move. */
async function endOf(deps: Queried, view: InstanceView): Promise<number | null> {
  if (!isTerminal(view.state)) return null;
  const entries = (await deps.store.listAudit(view.tenantId, view.id, 1000)) ?? [];
  const end = entries.findLast(({ toState }) => toState === view.state);
  return end?.createdAt ?? view.updatedAt;
}

async function findTrigger(store: Reads, tenantId: string, slug: string): Promise<TriggerTarget | null> {
  const trigger = await store.getTrigger(tenantId, slug);
  if (trigger === null) return null;
  const sequence = await store.findSequence(sequenceOf(trigger));
  return { trigger, sequence };
}
