import type { OutputRow } from '../../core/run/output-row.ts';
import { type InstanceState, isTerminal } from '../../core/run/states.ts';
import type { TreeNode } from '../../core/run/tree.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Definitions } from '../definitions.ts';
import { readTree } from '../read-tree.ts';
import type { Follower } from './activity.ts';
import { ToldNodes } from './told-nodes.ts';

/** What happens to one instance, as its followers see it. */
export type InstanceEvent =
  | { readonly kind: 'state'; readonly state: InstanceState }
  | { readonly kind: 'output'; readonly row: OutputRow; readonly place: StreamPlace }
  | { readonly kind: 'node'; readonly node: TreeNode; readonly place: StreamPlace }
  | { readonly kind: 'done'; readonly state: InstanceState };

export interface InstanceStreamOptions {
  readonly tenantId: string | null;
  readonly instanceId: string;
  /** How often an instance is looked at that nothing in this process works on. */
  readonly pollMs: number;
  /** Nodes of the tree are told too, each when it changes. */
  readonly withNodes: boolean;
  /** What was told up to this place is not told again. */
  readonly after: StreamPlace | null;
}

/** What a reader has been told: rows up to one, and the nodes as they then were; null: none of a kind, or not asked for. */
export interface StreamPlace {
  readonly row: RowPlace | null;
  readonly nodes: string | null;
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
/** Of outputs that are read at once; one output may be larger by itself. */
const BYTES_AT_ONCE = 1024 * 1024;

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
  const { after } = options;
  const told: Told = {
    state: null,
    after: after?.row ?? null,
    nodes: new ToldNodes(),
    known: after?.nodes ?? null,
  };
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
  readonly nodes: ToldNodes;
  /** The nodes that a reader knew who has come back, until they are compared with those of now. */
  known: string | null;
}

function placeOf({ after, nodes }: Told, { withNodes }: InstanceStreamOptions): StreamPlace {
  const row = after === null ? null : { rev: after.rev, ordinal: after.ordinal };
  return { row, nodes: withNodes ? nodes.digest : null };
}

async function* newRows(
  { store }: StreamDeps,
  options: InstanceStreamOptions,
  told: Told,
): AsyncGenerator<InstanceEvent> {
  const { tenantId, instanceId } = options;
  for (;;) {
    const size = { limit: ROWS_AT_ONCE, maxBytes: BYTES_AT_ONCE };
    const page = { node: false, retry: false, after: told.after, ...size };
    const rows = (await store.listOutputs(tenantId, instanceId, page)) ?? [];
    for (const row of rows) {
      told.after = row;
      yield { kind: 'output', row, place: placeOf(told, options) };
    }
    if (rows.length === 0) return;
  }
}

async function* changedNodes(
  deps: StreamDeps,
  options: InstanceStreamOptions,
  told: Told,
): AsyncGenerator<InstanceEvent> {
  const tree = (await readTree(deps, options.tenantId, options.instanceId)) ?? [];
  if (told.known !== null) {
    told.nodes.assume(tree, told.known);
    told.known = null;
  }
  for (const node of tree) {
    if (told.nodes.tell(node)) yield { kind: 'node', node, place: placeOf(told, options) };
  }
}
