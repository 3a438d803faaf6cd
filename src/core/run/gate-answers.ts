import type { StepBlock } from '../definition/document.ts';
import { type Json, isJsonObject } from '../json.ts';
import type { InboxDone } from './changes.ts';
import type { Draft } from './draft.ts';
import { type Frame, frameKey } from './frame.ts';
import { isWithin, keepEarly, namedPass } from './early-answers.ts';
import { itemPathsOf } from './item-paths.ts';
import { answerGate } from './leaf/gate.ts';
import { passMayStillCome } from './pass-to-come.ts';
import { placeOf } from './place.ts';
import { currentList, innerIteration } from './plan.ts';
import type { InboxRow } from './record.ts';
import { mayStillCome } from './upcoming.ts';

/**
 * 14.1: an answer names its block; one that comes before the gate waits for it ([HI-6]). Its optional member `iteration`
 * names the pass as well (`each:17`, or a path that leads to it): where several items of a concurrent `for_each` stand at
 * the gate, only that says which of them is meant (RULINGS B25).
 */
export function answerNamedGate(
  draft: Draft,
  row: InboxRow,
  blockId: string,
  payload: Json,
): InboxDone['disposition'] | 'kept' {
  const block = draft.plan.nodes.get(blockId)?.block;
  // It may be among the blocks that an accepted change is about to bring.
  if (block === undefined && (draft.shape.isDue || draft.shape.isHeld)) return 'kept';
  if (block?.type !== 'step') return 'no_effect';
  const named = namedPass(payload);
  const open = openGates(draft, block);
  const meant = named === null ? open : open.filter((frame) => isWithin(innerIteration(frame), named));
  const [frame, another] = meant;
  if (frame !== undefined && another === undefined) return answer(draft, frame, block, payload);
  if (another !== undefined) {
    const why = `${meant.length} passes wait at this gate; the answer has to name one of them as 'iteration'`;
    for (const one of meant) noteRefusal(draft, one, why);
    return 'rejected';
  }
  return keepForLater(draft, row, block, named);
}

function answer(draft: Draft, frame: Frame, block: StepBlock, payload: Json): InboxDone['disposition'] {
  const disposition = answerGate(draft, placeOf(draft, frameKey(frame)), block, payload);
  if (disposition === 'rejected') noteRefusal(draft, frame, whyRefused(frame, payload));
  return disposition;
}

function keepForLater(
  draft: Draft,
  row: InboxRow,
  block: StepBlock,
  named: string | null,
): InboxDone['disposition'] | 'kept' {
  if (block.wait_for_input === undefined) return 'no_effect';
  // Among items that run side by side the first to come would take an answer that was meant for another.
  const isAmbiguous = itemPathsOf(draft.plan, block.id, '').length > 0;
  if (named === null && isAmbiguous) return 'rejected';
  const comes = named === null ? mayStillCome(draft, block.id) : passMayStillCome(draft, block.id, named);
  if (!comes) return 'no_effect';
  keepEarly(draft, block.id, row);
  return 'kept';
}

function openGates(draft: Draft, block: StepBlock): readonly Frame[] {
  return [...draft.frames.values()].filter(
    (frame) =>
      frame.state === 'open' &&
      frame.leaf?.reason === 'input' &&
      currentList(draft.plan, frame)[frame.cursor]?.id === block.id,
  );
}

/** [HI-3]: the gate keeps waiting; that an answer came and was not taken is told where one looks for the reason. */
function noteRefusal(draft: Draft, frame: Frame, why: string): void {
  const current = draft.frames.get(frameKey(frame));
  if (current?.leaf?.gate === null || current?.leaf === null || current === undefined) return;
  const gate = { ...current.leaf.gate, refused: { at: draft.env.now, why } };
  draft.annotate(frameKey(current), { leaf: { ...current.leaf, gate } });
}

function whyRefused({ leaf }: Frame, payload: Json): string {
  const values = (leaf?.gate?.choices ?? []).map(({ value }) => value);
  return whyNoChoice(values, payload) ?? 'the context had no room for it';
}

/** What is wrong with an answer to a gate of these values, as a clause that names them; null: it is one of them ([HI-3]). */
export function whyNoChoice(values: readonly string[], payload: Json): string | null {
  const choices = values.join(', ');
  if (!isJsonObject(payload)) return `its payload was no object with a 'value' of ${choices}`;
  const { value } = payload;
  if (value === undefined) return `its payload had no 'value'; it may be ${choices}`;
  return values.some((choice) => choice === value) ? null : `its 'value' was none of ${choices}`;
}
