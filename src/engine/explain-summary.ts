import { isTerminal } from '../core/run/states.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import type { Explanation, NextStep, Wait } from './explanation.ts';

/** One plain sentence: what the instance does, and what happens next. */
export function describeExplanation(facts: Omit<Explanation, 'summary'>, instance: InstanceView): string {
  if (facts.next === null) return `The instance ended: ${ending(instance)}.`;
  if (isTerminal(facts.state)) {
    return `The instance ended: ${ending(instance)}; its cleanup hooks are not done: ${describeNext(facts.next)}.`;
  }
  const [first, ...others] = facts.waitingOn;
  if (first === undefined) return `The instance is ${facts.state}; ${describeNext(facts.next)}.`;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${describeWait(first)}${more}; ${describeNext(facts.next)}.`;
}

function ending({ state, failure, updatedAt }: InstanceView): string {
  const at = ` at ${iso(updatedAt)}`;
  if (state !== 'failed' || failure === null) return `${state}${at}`;
  const message = failure.error['message'];
  const where = failure.blockId === null ? '' : ` in '${failure.blockId}'`;
  return `failed${where}${at}${typeof message === 'string' ? ` (${message})` : ''}`;
}

function describeWait({ kind, blockId, detail, since, until }: Wait): string {
  const time =
    until !== null && kind !== 'lease' ? `until ${iso(until)} at the latest` : `since ${iso(since)}`;
  if (blockId !== null) return `Block '${blockId}' ${detail} ${time}`;
  return kind === 'lease'
    ? `The instance is being worked on: ${detail} ${time}`
    : `The instance ${detail} ${time}`;
}

function describeNext({ action, at }: NextStep): string {
  switch (action) {
    case 'turn':
      return `the turn goes on, and another one may take over from ${iso(at)} on if it dies`;
    case 'take_over':
      return 'the next sweep takes it over';
    case 'claim':
      return `a turn looks at it at ${iso(at)}`;
    case 'fact':
      return 'only an answer from outside moves it';
    case 'resume':
      return 'it goes on when somebody resumes it';
  }
}

function iso(at: number | null): string {
  return at === null ? 'an unknown time' : new Date(at).toISOString();
}
