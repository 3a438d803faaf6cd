import type { OutputRow } from '../../core/run/output-row.ts';
import { type InstanceState, isTerminal } from '../../core/run/states.ts';
import type { TreeNode } from '../../core/run/tree.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Definitions } from '../definitions.ts';
import { readTree } from '../read-tree.ts';
import type { Follower } from './activity.ts';

/** What happens to one instance, as its followers see it. */
export type InstanceEvent =
  | { readonly kind: 'state'; readonly state: InstanceState }
  | { readonly kind: 'output'; readonly row: OutputRow }
  | { readonly kind: 'node'; readonly node: TreeNode }
  | { readonly kind: 'done'; readonly state: InstanceState };

export interface InstanceStreamOptions {
  readonly tenantId: string | null;
  readonly instanceId: string;
  /** How often an instance is looked at that nothing in this process works on. */
  readonly pollMs: number;
  /** Nodes of the tree are told too, each when it changes. */
  readonly withNodes: boolean;
  /** Rows up to this place were told before. */
  readonly after: RowPlace | null;
}

export interface RowPlace {
  readonly rev: number;
  readonly ordinal: number;
}

interface StreamDeps {
  readonly store: Pick<
    Store,
    'getInstance' | 'listOutputs' | 'getFrontier' | 'listNodeRows' | 'listNodeRowsWithin'
  >;
  readonly definitions: Definitions;
}

const ROWS_AT_ONCE = 500;

/**
 * The state at first and at every change, each row once, and `done` after the last row of an instance that has ended
 * (http-api.md 5.6). Ends without `done` when the instance is gone.
 */
export async function* followInstance(
  deps: StreamDeps,
  follower: Follower,
  options: InstanceStreamOptions,
): AsyncGenerator<InstanceEvent> {
  const { tenantId, instanceId } = options;
  const told: Told = { state: null, after: options.after, nodes: new Map() };
  for (;;) {
    // The state is read before the rows: when it is the last one, the rows that follow are all there are.
    const view = await deps.store.getInstance(tenantId, instanceId);
    if (view === null) return;
    if (view.state !== told.state && !isTerminal(view.state)) yield { kind: 'state', state: view.state };
    yield* newRows(deps, options, told);
    if (options.withNodes) yield* changedNodes(deps, options, told);
    if (isTerminal(view.state)) {
      if (view.state !== told.state) yield { kind: 'state', state: view.state };
      yield { kind: 'done', state: view.state };
      return;
    }
    told.state = view.state;
    if (!(await follower.next(options.pollMs))) return;
  }
}

interface Told {
  state: InstanceState | null;
  after: RowPlace | null;
  /** The nodes as they were told, as JSON. */
  readonly nodes: Map<string, string>;
}

async function* newRows(
  { store }: StreamDeps,
  { tenantId, instanceId }: InstanceStreamOptions,
  told: Told,
): AsyncGenerator<InstanceEvent> {
  for (;;) {
    const page = { node: false, retry: false, after: told.after, limit: ROWS_AT_ONCE };
    const rows = (await store.listOutputs(tenantId, instanceId, page)) ?? [];
    for (const row of rows) yield { kind: 'output', row };
    told.after = rows.at(-1) ?? told.after;
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

async function* changedNodes(
  deps: StreamDeps,
  { tenantId, instanceId }: InstanceStreamOptions,
  told: Told,
): AsyncGenerator<InstanceEvent> {
  for (const node of (await readTree(deps, tenantId, instanceId)) ?? []) {
    const text = JSON.stringify(node);
    if (told.nodes.get(node.id) === text) continue;
    told.nodes.set(node.id, text);
    yield { kind: 'node', node };
  }
}
