import { type Json, type JsonObject, isJsonObject, mergeObjects } from '../json.ts';
import type { InboxDone } from './changes.ts';
import type { Draft } from './draft.ts';
import { type Frame, frameKey } from './frame.ts';
import { finishFact } from './finish-fact.ts';
import { recordHookReport } from './hooks/record-hook.ts';
import { answerNamedGate } from './gate-answers.ts';
import { openByEvents } from './leaf/gate.ts';
import { setDataWithin } from './leaf/merge-data.ts';
import { finishTask } from './leaf/worker-task.ts';
import { replaceBudget, resumed } from './limits/budget.ts';
import { placeOf } from './place.ts';
import { applyShapeFact } from './reshape/apply-changes.ts';
import { currentList } from './plan.ts';
import type { Fact, InboxRow } from './record.ts';
import { applyWake } from './wake.ts';

const GATE_PREFIX = 'custom:human_input:';

/** Processes inbox rows in the order of acceptance, each exactly once ([SIG-3], [SIG-4]). */
export function applyFacts(draft: Draft, rows: readonly InboxRow[]): void {
  for (const row of rows) {
    const disposition = applyFact(draft, row);
    if (disposition !== 'kept') finishFact(draft, row, disposition);
  }
}

function applyFact(draft: Draft, row: InboxRow): InboxDone['disposition'] | 'kept' {
  const { fact } = row;
  if (fact.kind === 'task' && recordHookReport(draft, fact.taskId, fact.outcome)) return 'applied';
  if (draft.terminal) return 'expired';
  switch (fact.kind) {
    case 'signal':
      return applySignal(draft, row, fact.signalType, fact.payload);
    case 'task':
      return applyTask(draft, fact);
    case 'child':
      return applyChildEnd(draft, fact);
    case 'event':
      return applyEvents(draft, fact);
    case 'shape':
      return applyShapeFact(draft, fact.change);
    case 'wake':
      return applyWake(draft, fact);
    case 'context':
      return applyContext(draft, fact);
  }
}

/** Chapter 16. */
function applySignal(
  draft: Draft,
  row: InboxRow,
  signalType: string,
  payload: Json,
): InboxDone['disposition'] | 'kept' {
  switch (signalType) {
    case 'pause':
      return pause(draft);
    case 'resume':
      if (draft.state !== 'paused') return 'no_effect';
      draft.transition('scheduled');
      resumed(draft);
      return 'applied';
    case 'cancel':
      return requestCancel(draft);
    case 'update_context':
      return updateContext(draft, payload);
    default:
      return signalType.startsWith(GATE_PREFIX)
        ? answerNamedGate(draft, row, signalType.slice(GATE_PREFIX.length), payload)
        : 'no_effect';
  }
}

/** A `waiting` instance cannot be paused; neither can one that drains after a cancel. */
function pause(draft: Draft): InboxDone['disposition'] {
  if (draft.cancelling || (draft.state !== 'scheduled' && draft.state !== 'running')) return 'no_effect';
  draft.transition('paused');
  return 'applied';
}

/** [CAN-1]: the walk that follows cancels what is not protected. A second cancel has no further effect ([CAN-5]). */
function requestCancel(draft: Draft): InboxDone['disposition'] {
  if (draft.cancelling) return 'no_effect';
  draft.instance.set({ cancelRequestedAt: draft.env.now });
  return 'applied';
}

/** Keys of `payload.data` are merged one by one ([SIG-7]); other sections are ignored. */
function updateContext(draft: Draft, payload: Json): InboxDone['disposition'] {
  const data = isJsonObject(payload) ? payload['data'] : undefined;
  if (!isJsonObject(data)) return 'rejected';
  return setDataWithin(draft, data) ? 'applied' : 'rejected';
}

function applyTask(draft: Draft, fact: Extract<Fact, { kind: 'task' }>): InboxDone['disposition'] {
  const frame = openLeafFrame(
    draft,
    (_, open) => open.leaf?.taskId === fact.taskId && open.leaf.reason === 'worker',
  );
  const block = draft.plan.nodes.get(fact.blockId)?.block;
  const leaf = frame?.leaf;
  if (frame === null || leaf === null || leaf === undefined || block?.type !== 'step') {
    draft.note('late_result', { task_id: fact.taskId, block_id: fact.blockId });
    return 'no_effect';
  }
  finishTask(draft, placeOf(draft, frameKey(frame)), block, leaf, fact.outcome);
  return 'applied';
}

function applyChildEnd(draft: Draft, fact: Extract<Fact, { kind: 'child' }>): InboxDone['disposition'] {
  const frame = openLeafFrame(
    draft,
    (_, open) => open.leaf?.childId === fact.childId && open.leaf.childEnd === null,
  );
  if (frame?.leaf === null || frame === null) return 'no_effect';
  draft.putLeaf(frame, { ...frame.leaf, childEnd: fact.state, wakeAt: draft.env.now });
  return 'applied';
}

/** The gate may have been left meanwhile: then the events stay consumed, and nothing else happens ([WAIT-6]). */
function applyEvents(draft: Draft, fact: Extract<Fact, { kind: 'event' }>): InboxDone['disposition'] {
  const frame = openLeafFrame(draft, (_, open) => open.leaf?.gate?.waitId === fact.waitId);
  const block = frame === null ? undefined : currentList(draft.plan, frame)[frame.cursor];
  if (frame === null || block?.type !== 'step') return 'no_effect';
  openByEvents(draft, placeOf(draft, frameKey(frame)), block);
  return 'applied';
}

/** [CTX-3]: given sections are replaced as a whole, or data and config are merged; runtime is never among them. */
function applyContext(draft: Draft, fact: Extract<Fact, { kind: 'context' }>): InboxDone['disposition'] {
  const { data, config, audit } = fact.sections;
  if (data !== undefined) {
    if (fact.mode === 'merge' && isJsonObject(data)) draft.instance.setData(data);
    else draft.instance.replaceData(data);
  }
  if (config !== undefined) draft.instance.set({ config: merged(draft.record.config, config, fact.mode) });
  if (audit !== undefined) draft.instance.set({ audit });
  if (fact.budget !== undefined) replaceBudget(draft, fact.budget);
  return 'applied';
}

function merged(old: JsonObject, patch: JsonObject, mode: 'replace' | 'merge'): JsonObject {
  return mode === 'merge' ? mergeObjects(old, patch) : patch;
}

function openLeafFrame(draft: Draft, matches: (blockId: string, frame: Frame) => boolean): Frame | null {
  for (const frame of draft.frames.values()) {
    if (frame.leaf === null || frame.state !== 'open') continue;
    const block = currentList(draft.plan, frame)[frame.cursor];
    if (block !== undefined && matches(block.id, frame)) return frame;
  }
  return null;
}
