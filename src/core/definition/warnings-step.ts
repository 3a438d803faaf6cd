import { didYouMean } from './did-you-mean.ts';
import { DEFAULT_CHOICES, type HumanInput, type StepBlock } from './step.ts';
import { shorten } from './path.ts';
import type { Warn } from './warning.ts';
import { type CalledHandler, warnAboutParams } from './warnings-params.ts';

/** What looks wrong in a step. */
export function warnAboutStep(step: StepBlock, warn: Warn, knownHandlers?: ReadonlySet<string>): void {
  warnUnknownHandler(step.handler, 'handler', warn, knownHandlers);
  warnUnknownHandler(step.fallback_handler, 'fallback_handler', warn, knownHandlers);
  if (step.timeout !== undefined && step.deadline !== undefined && step.timeout > step.deadline) {
    warn('timeout_exceeds_deadline', 'timeout is longer than deadline and can never be reached', ['timeout']);
  }
  if (step.fallback_handler === step.handler) {
    warn('fallback_is_primary', 'fallback_handler is the handler itself', ['fallback_handler']);
  }
  if (step.on_deadline_breach !== undefined && step.deadline === undefined) {
    warn('breach_without_deadline', 'on_deadline_breach never happens without a deadline', [
      'on_deadline_breach',
    ]);
  }
  warnEventGate(step, warn);
  warnDroppedEffect(step.on_deadline_breach?.handler, ['on_deadline_breach', 'handler'], warn);
  warnDroppedEffect(step.wait_for_input?.escalation_handler, ['wait_for_input', 'escalation_handler'], warn);
  for (const called of calledHandlers(step)) warnAboutParams(called, warn);
}

/** The handlers a step may call with params of their own. A compensation is stored and never called. */
function calledHandlers(step: StepBlock): readonly CalledHandler[] {
  const breach = step.on_deadline_breach;
  return [
    { handler: step.handler, params: step.params, path: ['params'], standIn: step.fallback_handler },
    ...(breach === undefined
      ? []
      : [{ ...breach, params: breach.params, path: ['on_deadline_breach', 'params'] }]),
  ];
}

function warnUnknownHandler(
  name: string | undefined,
  at: string,
  warn: Warn,
  knownHandlers: ReadonlySet<string> | undefined,
): void {
  if (name === undefined || knownHandlers === undefined || knownHandlers.has(name)) return;
  const hint = didYouMean(name, knownHandlers);
  warn('unknown_handler', `handler '${shorten(name)}' is not registered; a worker must serve it${hint}`, [
    at,
  ]);
}

/** There is no step whose blocks could be injected, or that could wait ([DL-3], [HI-10]). */
const WITHOUT_EFFECT_ASIDE: ReadonlySet<string> = new Set(['self_modify', 'wait_for_event', 'sleep']);

function warnDroppedEffect(handler: string | undefined, at: readonly string[], warn: Warn): void {
  if (handler === undefined || !WITHOUT_EFFECT_ASIDE.has(handler)) return;
  warn('effect_dropped', `'${handler}' has no effect as an escalation`, at);
}

/** An event opens the gate as the answer `yes` would ([WAIT-4]), so the gate must be there and know that answer. */
function warnEventGate(step: StepBlock, warn: Warn): void {
  if (step.handler !== 'wait_for_event') return;
  const gate = step.wait_for_input;
  if (gate === undefined) {
    warn('event_gate', 'wait_for_event does not wait without wait_for_input');
  } else if (!hasDefaultChoices(gate)) {
    warn('event_gate', 'wait_for_event answers yes, so its gate should keep the default choices', [
      'wait_for_input',
      'choices',
    ]);
  }
}

function hasDefaultChoices(gate: HumanInput): boolean {
  const values = (choices: readonly { readonly value: string }[]) =>
    choices.map(({ value }) => value).join('\n');
  return values(gate.choices) === values(DEFAULT_CHOICES);
}
