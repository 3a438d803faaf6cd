import type { Frame } from '../frame.ts';
import { latestNodeRows } from '../fold/latest-rows.ts';
import type { Plan } from '../plan.ts';
import { buildTree } from '../tree.ts';
import type { Forked } from './fork-run.ts';

/** Handlers that leave nothing behind outside the instance. */
const HARMLESS: ReadonlySet<string> = new Set([
  'noop',
  'log',
  'sleep',
  'fail',
  'transform',
  'assert',
  'set_state',
  'get_state',
  'delete_state',
  'merge_state',
  'query_instance',
  'wait_for_event',
]);

export interface SplitBlocks {
  /** Blocks that a fork takes over as they ended, in document order. */
  readonly copied: readonly string[];
  /** Blocks that it runs, or may still come to. */
  readonly rerun: readonly string[];
  /** Those of them that reach outside the instance. */
  readonly sideEffects: readonly string[];
}

/** What a fork takes over and what it runs again. */
export function splitBlocks(plan: Plan, instanceId: string, forked: Forked): SplitBlocks {
  const rows = latestNodeRows([...forked.copied, ...forked.rows]);
  const frames: readonly Frame[] = forked.frames;
  const tree = buildTree({ plan, instanceId, createdAt: 0, frames, rows, isWorkedOn: false });
  const isOver = new Set(['completed', 'failed', 'cancelled', 'skipped']);
  const copied = tree.filter(({ state }) => isOver.has(state)).map(({ blockId }) => blockId);
  const rerun = tree.filter(({ state }) => !isOver.has(state)).map(({ blockId }) => blockId);
  return { copied, rerun, sideEffects: rerun.filter((id) => reachesOutside(plan, id)) };
}

function reachesOutside(plan: Plan, blockId: string): boolean {
  const block = plan.nodes.get(blockId)?.block;
  if (block?.type === 'sub_sequence') return true;
  return block?.type === 'step' && !HARMLESS.has(block.handler);
}
