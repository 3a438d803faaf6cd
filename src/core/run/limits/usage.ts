import { type Json, isJsonObject, member } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Usage } from '../record.ts';
import { callsModel } from './tracked-handlers.ts';

/** [BUD-2]: an attempt of a handler that calls outside, or a worker task. */
export function countExternalCall(draft: Draft): void {
  const { usage } = draft.record;
  setUsage(draft, { externalCalls: (usage?.externalCalls ?? 0) + 1 });
}

/** [BUD-2], [LLM-6]: what a model handler reports that it has used, in tokens. */
export function countUsage(draft: Draft, handler: string, output: Json): void {
  if (!callsModel(handler) || !isJsonObject(output)) return;
  const reported = member(output, 'usage');
  if (!isJsonObject(reported)) return;
  const { usage } = draft.record;
  setUsage(draft, {
    inputTokens: (usage?.inputTokens ?? 0) + tokens(member(reported, 'input_tokens')),
    outputTokens: (usage?.outputTokens ?? 0) + tokens(member(reported, 'output_tokens')),
  });
}

function tokens(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

export function setUsage(draft: Draft, change: Usage): void {
  draft.instance.set({ usage: { ...draft.record.usage, ...change } });
}
