import { parseSequence } from '../../src/core/definition/parse-sequence.ts';
import type { SequenceDocument } from '../../src/core/definition/document.ts';
import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonObject,
  mergeObjects,
} from '../../src/core/json.ts';
import { buildList, isTerminal, nodesOf, type TreeNode } from './tree-node.ts';
import type { Effect, InstanceState, RowView, SequenceSource, World } from './world.ts';

/** A recorded row; `kind` says what may be removed when. */
export interface Row extends RowView {
  readonly kind: 'result' | 'gate' | 'breach' | 'error' | 'counter';
}

/** One running sequence, as the reference keeps it. */
export interface Instance {
  readonly id: string;
  readonly sequence: string;
  readonly document: SequenceDocument;
  readonly roots: readonly TreeNode[];
  readonly depth: number;
  readonly parent: { readonly instance: Instance; readonly node: TreeNode } | null;
  readonly children: Instance[];
  /** Started children by node: the one of the present entry. */
  readonly childOf: Map<TreeNode, Instance>;
  data: Json;
  readonly config: JsonObject;
  readonly state: Map<string, Json>;
  readonly cache: Map<string, Json>;
  rows: Row[];
  readonly effects: Effect[];
  readonly calls: Map<string, number>;
  /** Set when the run has ended. */
  terminal: 'completed' | 'failed' | 'cancelled' | null;
  endedAt: number | null;
  paused: boolean;
  cancelRequested: boolean;
  /** Answers to gates that were not open yet (HI-6), oldest first. */
  readonly keptAnswers: { readonly block: string; readonly payload: Json }[];
}

/** What all instances of one case share. */
export interface Sim {
  readonly world: World;
  readonly documents: ReadonlyMap<string, SequenceDocument>;
  readonly instances: Instance[];
  /** Ids of children, which only decide A/B variants. */
  readonly idOf: (ordinal: number) => string;
  now: number;
  /** What happens at this very instant, in order, before time moves on. */
  readonly queue: (() => void)[];
  /** What begins once the walk of this instant has come to rest: what the same walk cancels never began. */
  readonly begins: (() => void)[];
  /** Set when the case depends on an order that nothing defines; it is then left out of the comparison. */
  tie: string | null;
}

const CREATED_AT = '2027-01-01T00:00:00.000Z';

export function documentOf(source: SequenceSource, ordinal: number): SequenceDocument {
  const parsed = parseSequence(sequenceJson(source, ordinal));
  if (!parsed.ok) throw new Error(`the generated sequence is refused: ${JSON.stringify(parsed.error)}`);
  return parsed.value.document;
}

/** The document as it is published. */
function sequenceJson(source: SequenceSource, ordinal: number): JsonObject {
  return {
    id: `00000000-0000-7000-8000-${String(ordinal).padStart(12, '0')}`,
    tenant_id: 'reference',
    namespace: 'world',
    name: source.name,
    version: 1,
    blocks: source.blocks,
    created_at: CREATED_AT,
  };
}

export function newInstance(
  sim: Sim,
  document: SequenceDocument,
  { data, config, parent }: Pick<Instance, 'data' | 'config' | 'parent'>,
): Instance {
  const instance: Instance = {
    id: sim.idOf(sim.instances.length),
    sequence: document.name,
    document,
    roots: buildList(document.blocks, null, 0),
    depth: parent === null ? 0 : parent.instance.depth + 1,
    parent,
    children: [],
    childOf: new Map(),
    data,
    config,
    state: new Map(),
    cache: new Map(),
    rows: [],
    effects: [],
    calls: new Map(),
    terminal: null,
    endedAt: null,
    paused: false,
    cancelRequested: false,
    keptAnswers: [],
  };
  sim.instances.push(instance);
  parent?.instance.children.push(instance);
  return instance;
}

/** [CTX-2], [CTX-4]. */
export function mergeData(instance: Instance, patch: JsonObject): void {
  instance.data = mergeObjects(isJsonObject(instance.data) ? instance.data : {}, patch);
}

export function setData(instance: Instance, key: string, value: Json): void {
  mergeData(instance, jsonObject([[key, value]]));
}

export function removeError(instance: Instance): void {
  const { data } = instance;
  if (!isJsonObject(data)) return;
  instance.data = jsonObject(Object.entries(data).filter(([key]) => key !== '_error'));
}

export function addRow(instance: Instance, node: TreeNode, row: Omit<Row, 'block' | 'iteration'>): void {
  instance.rows.push({ ...row, block: node.block.id, iteration: node.iteration });
}

/** The state at rest (6.4), derived from what the nodes wait for. */
export function stateOf(instance: Instance): InstanceState {
  if (instance.terminal !== null) return instance.terminal;
  if (instance.paused) return 'paused';
  const open = [...nodesOf(instance.roots)].filter((node) => !isTerminal(node.state));
  const isCalled = open.some(({ leaf }) => leaf.call?.kind === 'in_process' || leaf.call?.kind === 'sleep');
  if (isCalled) return 'running';
  return open.some(({ state, reason }) => state === 'waiting' && isEngineTimer(reason))
    ? 'scheduled'
    : 'waiting';
}

const isEngineTimer = (reason: TreeNode['reason']): boolean =>
  reason === 'delay' ||
  reason === 'send_window' ||
  reason === 'rate_limit' ||
  reason === 'retry' ||
  reason === 'breaker' ||
  reason === 'poll';

/** The text of a cache key; null when the key turns the cache off ([CACHE-1]). */
export function cacheKeyText(key: Json): string | null {
  if (key === null || key === '') return null;
  return typeof key === 'string' ? key : canonicalJson(key);
}
