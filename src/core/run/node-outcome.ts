import { type Json, type JsonObject, jsonObject, member } from '../json.ts';
import type { Frame, FrameDetail, ListEnd } from './frame.ts';
import { restAtEnd } from './rest-of-list.ts';

/**
 * The hidden output of a composite's `node` row: its state, what it decided, and what became of those of its blocks
 * that left no row of their own, where the state alone does not say it (RULINGS B2).
 */
export function nodeOutcome(
  frame: Frame,
  lists: number,
  end: ListEnd,
  error: Json | null = null,
): JsonObject {
  const rest = restAtEnd(frame, lists, end);
  const decision = decisionOf(frame.detail, end);
  const members: [string, Json][] = [['state', end === 'drained' ? 'completed' : end]];
  if (decision !== null) members.push(['decision', decision]);
  const items = itemsOf(frame);
  if (items !== null) members.push(['items', items]);
  if (error !== null) members.push(['error', error]);
  if (rest !== null) members.push(['rest', rest]);
  return jsonObject(members);
}

/** Where the items are stored: the counters say it too, but the next pass of a loop around the block takes them away. */
function itemsOf({ detail, iteration }: Frame): string | null {
  if (iteration === '' || (detail.kind !== 'for_each' && detail.kind !== 'fan_out')) return null;
  return detail.snapshotKey;
}

/** What the tree shows as the decision of a composite; `end` is null while it is open. */
export function decisionOf(detail: FrameDetail, end: ListEnd | null): JsonObject | null {
  switch (detail.kind) {
    case 'router':
      return { route: detail.route };
    case 'a_b_split':
      return { variant: detail.variant };
    case 'race':
      return end === null ? null : { winner: end === 'drained' ? detail.ends.indexOf('drained') : null };
    case 'loop':
      return { passes: detail.passes, ...lastPass(detail.passes, detail.inPass, end) };
    case 'for_each':
      return { passes: detail.index, total: detail.total, ...lastPass(detail.index, detail.inPass, end) };
    case 'fan_out':
      return {
        passes: detail.ended,
        total: detail.total,
        failed: detail.failed,
        ...(end === null ? {} : { last_pass: detail.decidedBy ?? detail.next - 1 }),
      };
    case 'try_catch':
      return end === null ? null : { try: detail.tryEnd, catch: detail.catchEnd };
    case 'saga':
      return detail.error === null
        ? null
        : {
            failed_step: member(detail.error, 'failed_step') ?? null,
            failed_compensations: detail.failedCompensations,
          };
    case 'root':
    case 'branch':
    case 'item':
    case 'parallel':
    case 'cancellation_scope':
      return null;
  }
}

/** The pass that the tree shows once the block is over; -1 when the body never ran. */
function lastPass(passes: number, inPass: boolean, end: ListEnd | null): JsonObject {
  return end === null ? {} : { last_pass: inPass ? passes : passes - 1 };
}
