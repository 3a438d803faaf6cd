import type { HumanInput, StepBlock } from '../../definition/document.ts';
import { resolveTemplateText } from '../../expressions/template.ts';
import { type Json, canonicalJson, isJsonObject, jsonObject } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Gate, Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import type { InboxDone } from '../changes.ts';
import { finishFact } from '../finish-fact.ts';
import { keepEarly, namedPass, takeEarlyAnswers } from '../early-answers.ts';
import { passMayStillCome } from '../pass-to-come.ts';
import type { InboxRow } from '../record.ts';
import { mayStillCome } from '../upcoming.ts';
import { viewScope } from './context-view.ts';
import { completeLeaf, failLeaf } from './end-leaf.ts';
import { prepareGate } from './prepare-gate.ts';
import { setDataWithin } from './merge-data.ts';

const COMMENT_CHARACTERS_MAX = 4000;

/** [HI-1], [HI-8]: the node waits for a person; an answer that came early is used now ([HI-6]). */
export function openGate(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const input = block.wait_for_input;
  if (input === undefined) throw new Error(`${block.id} has no gate`);
  const prompt = resolveTemplateText(input.prompt, viewScope(draft, place, block, leaf.attempt));
  if (!prompt.ok) {
    return failLeaf(draft, place, leaf, {
      message: prompt.error.message,
      retryable: false,
      code: 'TEMPLATE_ERROR',
    });
  }
  const extras = prepareGate(draft, place, block, leaf);
  if (!extras.ok) return failLeaf(draft, place, leaf, extras.error);
  const gate = { ...gateOf(block, input, prompt.value, draft.env.now), ...extras.value };
  const waiting: Leaf = {
    ...leaf,
    state: 'waiting',
    reason: 'input',
    gate,
    wakeAt: gate.timeoutMs === null ? null : gate.openedAt + gate.timeoutMs + 1,
  };
  draft.instance.set({ currentStep: { blockId: block.id, startedAt: draft.env.now, attempt: leaf.attempt } });
  draft.putLeaf(frameAt(draft, place), waiting);
  if (draft.record.dryRun && draft.record.dryRunAutoApprove) {
    answerGate(draft, place, block, { value: gate.choices[0]?.value ?? 'yes' });
  } else useEarlyAnswers(draft, place, block);
  const now = frameAt(draft, place).leaf;
  return now !== null && now.passed.gate ? 'moved' : 'open';
}

function gateOf(block: StepBlock, input: HumanInput, prompt: Json, now: number): Gate {
  return {
    openedAt: now,
    prompt: typeof prompt === 'string' ? prompt : canonicalJson(prompt),
    choices: input.choices,
    storeAs: input.store_as ?? block.id,
    allowComment: input.allow_comment,
    timeoutMs: input.timeout ?? null,
    escalationHandler: input.escalation_handler ?? null,
    kind: 'choice',
  };
}

/** Each answer opens one gate: behind the one that fits, the others wait for a pass that may still come ([HI-7]). */
function useEarlyAnswers(draft: Draft, place: Place, block: StepBlock): void {
  const iteration = innerIteration(frameAt(draft, place));
  for (const answer of takeEarlyAnswers(draft, block.id, iteration)) {
    const isOpen = frameAt(draft, place).leaf?.reason === 'input';
    if (!isOpen && mayBeForLater(draft, answer, block.id, iteration)) keepEarly(draft, block.id, answer);
    else {
      const payload = answer.fact.kind === 'signal' ? answer.fact.payload : null;
      finishFact(draft, answer, answerGate(draft, place, block, payload));
    }
  }
}

function mayBeForLater(draft: Draft, { fact }: InboxRow, blockId: string, iteration: string): boolean {
  const named = fact.kind === 'signal' ? namedPass(fact.payload) : null;
  if (named === null) return mayStillCome(draft, blockId);
  return named !== iteration && passMayStillCome(draft, blockId, named);
}

/**
 * [HI-3], [HI-4]: takes an answer in when it fits: its row, the stored value, and the step goes on. Anything else is
 * consumed and the gate keeps waiting.
 */
export function answerGate(
  draft: Draft,
  place: Place,
  block: StepBlock,
  payload: Json,
): InboxDone['disposition'] {
  const frame = frameAt(draft, place);
  const leaf = frame.leaf;
  if (leaf === null || leaf.reason !== 'input' || leaf.gate === null) return 'no_effect';
  const answer = parseAnswer(leaf.gate, payload);
  if (answer === null) return 'rejected';
  if (leaf.gate.kind === 'outcome') return answerOutcome(draft, place, leaf, answer);
  return passGate(draft, place, block, leaf, answer) ? 'applied' : 'rejected';
}

/** [WAIT-4]: the events that a gate waited for are there. It opens as by the answer `yes`, whatever its choices are. */
export function openByEvents(draft: Draft, place: Place, block: StepBlock): void {
  const { leaf } = frameAt(draft, place);
  if (leaf === null || passGate(draft, place, block, leaf, { value: 'yes', comment: null })) return;
  // The events are consumed and will not come again: waiting on would be waiting for ever.
  failLeaf(draft, place, leaf, {
    message: `the context is too large to take in that the events of ${block.id} have come`,
    retryable: false,
    code: 'CONTEXT_TOO_LARGE',
  });
}

/** [HI-4]: the row, the stored value, and the step goes on. False when the context has no room for the value. */
function passGate(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  answer: { readonly value: string; readonly comment: string | null },
): boolean {
  const frame = frameAt(draft, place);
  const storeAs = leaf.gate?.storeAs ?? block.id;
  if (!setDataWithin(draft, jsonObject([[storeAs, answer.value]]))) return false;
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frame),
    kind: 'gate',
    attempt: 0,
    output: {
      value: answer.value,
      _human_gate: true,
      ...(answer.comment === null ? {} : { comment: answer.comment }),
    },
    startedAt: leaf.startedAt,
  });
  draft.putLeaf(frame, {
    ...leaf,
    reason: null,
    wakeAt: null,
    gate: null,
    passed: { ...leaf.passed, gate: true },
  });
  return true;
}

function parseAnswer(gate: Gate, payload: Json): { value: string; comment: string | null } | null {
  if (!isJsonObject(payload)) return null;
  const { value, comment } = payload;
  if (typeof value !== 'string' || !gate.choices.some((choice) => choice.value === value)) return null;
  const text = gate.allowComment && typeof comment === 'string' ? comment : null;
  return { value, comment: text === null ? null : firstCharacters(text, COMMENT_CHARACTERS_MAX) };
}

/** Cut by code points, so that no character is torn. */
function firstCharacters(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('');
}

/** RULINGS B10: a person says what became of an attempt whose outcome is unknown. */
function answerOutcome(
  draft: Draft,
  place: Place,
  leaf: Leaf,
  answer: { readonly value: string; readonly comment: string | null },
): InboxDone['disposition'] {
  const known: Leaf = { ...leaf, gate: null, reason: null, error: null, dispatchedAt: null };
  if (answer.value === 'done')
    completeLeaf(draft, place, known, { _resolved_by_person: true, comment: answer.comment });
  else if (answer.value === 'failed') {
    failLeaf(draft, place, known, {
      message: answer.comment ?? 'a person said that the attempt had failed',
      retryable: false,
      code: 'ATTEMPT_FAILED',
    });
  } else draft.putLeaf(frameAt(draft, place), known);
  return 'applied';
}

/** [HI-9] to [HI-11]: a gate expires strictly after its timeout. */
export function checkGate(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const { gate } = leaf;
  if (gate === null || gate.timeoutMs === null) return 'open';
  if (draft.env.now - gate.openedAt <= gate.timeoutMs) return 'open';
  draft.markStrict();
  if (gate.escalationHandler === null) {
    return failLeaf(draft, place, leaf, {
      message: `nobody answered ${block.id} within ${gate.timeoutMs} ms`,
      retryable: false,
      code: 'HUMAN_INPUT_TIMEOUT',
    });
  }
  return escalate(draft, place, block, leaf, gate.escalationHandler);
}

/** [HI-10]: the marker row stands for the result; the step's own handler does not run. */
function escalate(draft: Draft, place: Place, block: StepBlock, leaf: Leaf, handler: string): Outcome {
  const { gate } = leaf;
  const timeoutSeconds = Math.floor((gate?.timeoutMs ?? 0) / 1000);
  draft.escalations.push({
    handler,
    params: {
      block_id: block.id,
      instance_id: draft.record.id,
      prompt: gate?.prompt ?? '',
      choices: (gate?.choices ?? []).map((choice) => ({ ...choice })),
      timeout_seconds: timeoutSeconds,
    },
    blockId: block.id,
    iteration: innerIteration(frameAt(draft, place)),
  });
  const marker = { _escalated: true, _escalation_handler: handler, _timeout_seconds: timeoutSeconds };
  return completeLeaf(draft, place, leaf, marker, 'escalation');
}
