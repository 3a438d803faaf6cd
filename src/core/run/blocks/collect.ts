import type { ForEachBlock } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import { type Json, canonicalJson, utf8Bytes } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import type { CollectedItem } from '../fan-out-knowledge.ts';
import { type Frame, frameKey } from '../frame.ts';
import { type Place, frameAt } from '../place.ts';
import { type Plan, descendantIds, isInside, passPath } from '../plan.ts';
import { fanOutAt } from './fan-out-detail.ts';

/**
 * `collect: true`: writes the row of the block, the last outputs of its items in index order. Of an item the result of
 * that block counts which stands last in the document among those that left one; `null` when none did, and
 * `{"error": …}` for an item that failed. null: what earlier commits have stored is to be read first.
 */
export function collectOutputs(
  draft: Draft,
  owner: Place,
  block: ForEachBlock,
): Result<null, Failure> | null {
  const { total, failedKey } = fanOutAt(draft, owner);
  const frame = frameAt(draft, owner);
  const key = frameKey(frame);
  const { items, bytes } = draft.knowledge.fanOut.collected(key);
  const candidates = candidatesOf(draft.plan, block);
  const { maxOutputBytes } = draft.env;
  if (items.length < total && bytes <= maxOutputBytes) {
    const { id: blockId } = block;
    const { iteration } = frame;
    const from = items.length;
    draft.knowledge.fanOut.askCollected({ blockId, iteration, from, candidates, failedKey, total });
    return null;
  }
  const output = withOwn(draft, frame, items, candidates).map(shown);
  draft.knowledge.fanOut.closeBlock(key);
  if (bytes > maxOutputBytes || utf8Bytes(canonicalJson(output)) > maxOutputBytes)
    return err(tooLarge(block));
  draft.addRow({
    blockId: block.id,
    iteration: frame.iteration,
    kind: 'result',
    attempt: 0,
    output,
    startedAt: frame.startedAt,
  });
  return ok(null);
}

function tooLarge(block: ForEachBlock): Failure {
  return {
    message: `the outputs of the items of ${block.id} are too large to be collected`,
    retryable: false,
    code: 'OUTPUT_TOO_LARGE',
  };
}

function shown(item: CollectedItem): Json {
  if (item === null) return null;
  return 'error' in item ? { error: item.error } : item.output;
}

/** What was read, with what this turn has not committed yet laid over it. */
function withOwn(
  draft: Draft,
  owner: Frame,
  read: readonly CollectedItem[],
  candidates: readonly string[],
): readonly CollectedItem[] {
  const items = [...read];
  const start = passPath(owner.iteration, owner.blockId, 0).slice(0, -1);
  for (const { blockId, iteration, kind, output } of draft.pendingRows) {
    if ((kind !== 'result' && kind !== 'escalation') || !iteration.startsWith(start)) continue;
    const index = Number.parseInt(iteration.slice(start.length), 10);
    const before = items[index] ?? null;
    const standing = before === null || 'error' in before ? -1 : candidates.indexOf(before.blockId);
    if (candidates.indexOf(blockId) >= Math.max(0, standing)) items[index] = { blockId, output };
  }
  for (const [index, error] of draft.knowledge.fanOut.failuresOf(frameKey(owner))) items[index] = { error };
  return items;
}

/** A block that collects by itself stands for what is inside it. */
function candidatesOf(plan: Plan, block: ForEachBlock): readonly string[] {
  const ids = descendantIds(plan, block.id);
  const collecting = ids.filter((id) => {
    const inner = plan.nodes.get(id)?.block;
    return inner?.type === 'for_each' && inner.collect === true;
  });
  return ids.filter((id) => !collecting.some((outer) => isInside(plan, id, outer)));
}
