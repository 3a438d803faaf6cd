import { utf8Bytes, type Json } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { CORRELATION_KEY_BYTES_MAX, EVENT_NAME_BYTES_MAX } from '../core/run/leaf/wanted-events.ts';
import type { AcceptedEvent, EventStatus, StoredEvent } from '../ports/store/events.ts';
import { refuse, type Refusal } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import { nudgeAccepted, type Caller, type UseCaseDeps } from './use-case.ts';

/** An event as a producer sends it (http-api.md 13). */
export interface EventInput {
  readonly tenantId: string;
  readonly eventName: string;
  readonly producerEventId: string;
  readonly correlationKey: string;
  readonly payload: Json;
}

const PRODUCER_EVENT_ID_BYTES_MAX = 512;
const BATCH_MAX = 100;

/**
 * Stores an event, gives it to the oldest wait that wants it and lets that take effect. Once per (tenant, event name,
 * producer event id): a repeat answers the first and changes nothing. 403 other tenant, 400 blank or too long.
 */
export async function sendEvent(
  deps: UseCaseDeps,
  caller: Caller,
  input: EventInput,
): Promise<Result<AcceptedEvent, Refusal>> {
  const checked = checkEvent(caller, input);
  return checked.ok ? ok(await accept(deps, checked.value)) : checked;
}

/** The same for up to 100 events in their order; all are checked before any is stored. */
export async function sendEvents(
  deps: UseCaseDeps,
  caller: Caller,
  inputs: readonly EventInput[],
): Promise<Result<readonly AcceptedEvent[], Refusal>> {
  if (inputs.length === 0 || inputs.length > BATCH_MAX)
    return refuse('invalid_argument', `a batch holds 1 to ${BATCH_MAX} events`);
  for (const [index, input] of inputs.entries()) {
    const checked = checkEvent(caller, input);
    if (!checked.ok) return err({ ...checked.error, message: `events[${index}]: ${checked.error.message}` });
  }
  const outcomes: AcceptedEvent[] = [];
  for (const input of inputs) outcomes.push(await accept(deps, input));
  return ok(outcomes);
}

/** Newest first. A caller who sees all tenants must name one (400). */
export async function listEvents(
  deps: UseCaseDeps,
  caller: Caller,
  query: { readonly tenantId: string | null; readonly status: string | null; readonly limit: number },
): Promise<Result<readonly StoredEvent[], Refusal>> {
  const tenantId = caller.tenantId ?? query.tenantId;
  if (tenantId === null || tenantId.trim() === '')
    return refuse('invalid_argument', 'missing field `tenant_id`', { code: 'invalid_shape' });
  const { status, limit } = query;
  if (status !== null && !isStatus(status))
    return refuse('invalid_argument', 'status must be pending, consumed or expired');
  return ok(await deps.store.listEvents({ tenantId, status, limit }));
}

function isStatus(text: string): text is EventStatus {
  return text === 'pending' || text === 'consumed' || text === 'expired';
}

async function accept(deps: UseCaseDeps, input: EventInput): Promise<AcceptedEvent> {
  const accepted = await deps.store.acceptEvent({ ...input, id: deps.ids.newId() });
  const { match } = accepted;
  if (match?.satisfied === true) {
    await nudgeAccepted(deps, { tenantId: input.tenantId, instanceId: match.instanceId });
  }
  return accepted;
}

function checkEvent(caller: Caller, input: EventInput): Result<EventInput, Refusal> {
  const tenantId = tenantOf(caller, input.tenantId);
  if (!tenantId.ok) return tenantId;
  const limits: readonly (readonly [string, string, number])[] = [
    ['event_name', input.eventName, EVENT_NAME_BYTES_MAX],
    ['producer_event_id', input.producerEventId, PRODUCER_EVENT_ID_BYTES_MAX],
    ['correlation_key', input.correlationKey, CORRELATION_KEY_BYTES_MAX],
  ];
  for (const [field, text, max] of limits) {
    if (text.trim() === '') return refuse('invalid_argument', `${field} must not be empty`);
    if (utf8Bytes(text) > max) return refuse('invalid_argument', `${field} must not exceed ${max} bytes`);
  }
  return ok(input);
}
