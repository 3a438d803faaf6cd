import { type Json, isJsonObject } from '../json.ts';
import type { Draft } from './draft.ts';
import type { InboxRow } from './record.ts';

/** The answers that came before a gate and are meant for it; the others go on waiting. */
export function takeEarlyAnswers(draft: Draft, blockId: string, iteration: string): readonly InboxRow[] {
  const waiting = draft.earlyAnswers.get(blockId) ?? [];
  const isMeant = ({ fact }: InboxRow): boolean => {
    const named = fact.kind === 'signal' ? namedPass(fact.payload) : null;
    return named === null || isWithin(iteration, named);
  };
  const others = waiting.filter((row) => !isMeant(row));
  if (others.length === 0) draft.earlyAnswers.delete(blockId);
  else draft.earlyAnswers.set(blockId, others);
  return waiting.filter(isMeant);
}

/** An answer to a gate that is not open goes on waiting, in the order in which the answers came. */
export function keepEarly(draft: Draft, blockId: string, answer: InboxRow): void {
  const waiting = [...(draft.earlyAnswers.get(blockId) ?? []), answer];
  draft.earlyAnswers.set(
    blockId,
    waiting.toSorted((left, right) => left.seq - right.seq),
  );
}

/** The pass that an answer names; null when it names only its block. */
export function namedPass(payload: Json): string | null {
  const iteration = isJsonObject(payload) ? payload['iteration'] : undefined;
  return typeof iteration === 'string' ? iteration : null;
}

/** True for the pass itself and for passes inside it. */
export function isWithin(iteration: string, path: string): boolean {
  return iteration === path || iteration.startsWith(`${path}/`);
}
