import type { Json } from '../../core/json.ts';
import { jsonObject } from '../../core/json.ts';
import { parseWantedEvents } from '../../core/run/leaf/wanted-events.ts';
import type { WantedEvents } from '../../core/run/outside.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import type { MatchedEvent } from '../../ports/store/events.ts';
import { failed, failureOf, fromStore } from './outcomes.ts';

/**
 * `wait_for_event` (handlers.md 6.4). The waiting is done by the step's gate ([WAIT-1]); this runs when the gate has
 * opened and answers with what its wait has matched. Without a gate it takes what is there and answers at once ([WAIT-7]).
 */
export const waitForEventHandler: StepHandler = {
  name: 'wait_for_event',
  kind: 'pure',
  checkParams: (params) => failureOf(parseWantedEvents(params)),
  dryRun: (call) => {
    const wanted = parseWantedEvents(call.params);
    if (!wanted.ok) return failed(wanted.error);
    return { ok: true, output: resultOf({ ...asked(wanted.value), id: null, satisfied: false, events: [] }) };
  },
  run: (call) => (call.gate === null ? takeNow(call) : collect(call)),
};

async function collect(call: StepCall): Promise<StepOutcome> {
  const wait = await fromStore(() => call.services.eventWait());
  if (!wait.ok) return failed(wait.error);
  if (wait.value !== null) return { ok: true, output: resultOf(wait.value) };
  // The gate was opened before this build could register waits, or in a dry run.
  const wanted = parseWantedEvents(call.params);
  if (!wanted.ok) return failed(wanted.error);
  return { ok: true, output: resultOf({ ...asked(wanted.value), id: null, satisfied: false, events: [] }) };
}

/** The commit consumes them; when another wait was faster, the step runs again. */
async function takeNow(call: StepCall): Promise<StepOutcome> {
  const wanted = parseWantedEvents(call.params);
  if (!wanted.ok) return failed(wanted.error);
  const found = await fromStore(() => call.services.matchingEvents(wanted.value));
  if (!found.ok) return failed(found.error);
  const id = call.services.newId();
  const taken = { ...wanted.value, id, eventIds: found.value.map((event) => event.id) };
  const satisfied = found.value.length >= wanted.value.needed;
  const output = resultOf({ ...asked(wanted.value), id, satisfied, events: found.value });
  return { ok: true, output, writes: [{ type: 'take_events', taken }] };
}

interface Shown {
  readonly id: string | null;
  readonly names: readonly string[];
  readonly correlationKey: string;
  readonly satisfied: boolean;
  readonly events: readonly MatchedEvent[];
}

function asked({ names, correlationKey }: WantedEvents): Pick<Shown, 'names' | 'correlationKey'> {
  return { names, correlationKey };
}

/** [WAIT-8]: of several events with one name `events` holds the last one. */
function resultOf({ id, names, correlationKey, satisfied, events }: Shown): Json {
  const all = satisfied ? events.map(entryOf) : [];
  return {
    wait_id: id,
    waiting_for: [...names],
    correlation_key: correlationKey,
    satisfied,
    matched: events.map(({ eventName }) => eventName),
    events: jsonObject(all.map((entry) => [entry.event_name, entry])),
    all,
  };
}

function entryOf({ eventName, producerEventId, payload }: MatchedEvent): {
  readonly event_name: string;
  readonly producer_event_id: string;
  readonly payload: Json;
} {
  return { event_name: eventName, producer_event_id: producerEventId, payload };
}
