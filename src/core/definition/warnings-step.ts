import type { Json } from '../json.ts';
import { isJsonObject, member } from '../json.ts';
import { didYouMean } from './did-you-mean.ts';
import { DEFAULT_CHOICES, type HumanInput, type StepBlock } from './step.ts';
import { shorten } from './path.ts';
import type { Warn } from './warning.ts';

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
  for (const names of requiredParams(step)) {
    if (names.some((name) => hasParam(step.params, name))) continue;
    warn('missing_param', `'${step.handler}' needs the param ${names.join(' or ')}`, ['params']);
  }
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

/** Params the built-in handlers need (handlers.md); of each group one is enough. */
const REQUIRED_PARAMS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['assert', [['condition']]],
  ['set_state', [['key'], ['value']]],
  ['get_state', [['key']]],
  ['delete_state', [['key']]],
  ['merge_state', [['values']]],
  ['http_request', [['url']]],
  ['tool_call', [['url']]],
  ['mcp_call', [['url', 'server']]],
  ['emit_event', [['trigger_slug']]],
  ['send_signal', [['instance_id'], ['signal_type']]],
  ['query_instance', [['instance_id']]],
  ['wait_for_event', [['events'], ['correlation_key']]],
  ['self_modify', [['blocks']]],
  ['blob_put', [['text', 'data']]],
  ['blob_get', [['ref']]],
  ['agent', [['goal', 'messages']]],
  ['embed', [['input']]],
  ['memory_store', [['text', 'embedding']]],
  ['memory_search', [['query', 'query_embedding']]],
  ['memory_delete', [['key']]],
]);

function requiredParams(step: StepBlock): readonly (readonly string[])[] {
  // Params that are one template as a whole are known only when the step runs.
  if (typeof step.params === 'string' && step.params.includes('{{')) return [];
  const always = REQUIRED_PARAMS.get(step.handler) ?? [];
  if (step.handler === 'mcp_call' && (member(step.params, 'action') ?? 'call') === 'call') {
    return [...always, ['tool_name']];
  }
  if (step.handler === 'wait_for_event' && member(step.params, 'join') === 'count')
    return [...always, ['count']];
  return always;
}

function hasParam(params: Json | undefined, name: string): boolean {
  return isJsonObject(params) && Object.hasOwn(params, name);
}
