import { listEvents, sendEvent, sendEvents } from '../../engine/events.ts';
import { notFound } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  EventBatchBody,
  EventBody,
  EventEnvelope,
  EventList,
  EventOutcome,
  EventOutcomes,
  EventQuery,
  showEvent,
  showListedEvent,
  showOutcome,
} from '../schemas/event.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'events';

const send = defineBodyRoute({
  method: 'POST',
  path: '/events',
  tag,
  summary: 'Send an event to what waits for it',
  params: NoParameters,
  query: NoParameters,
  body: EventBody,
  responses: { 200: EventOutcome, 201: EventOutcome },
  handle: async (deps, { caller, body }) => {
    const sent = await sendEvent(deps, caller, body);
    if (!sent.ok) return sent;
    const outcome = showOutcome(sent.value);
    return outcome.duplicate ? okay(outcome) : created(outcome);
  },
});

const sendBatch = defineBodyRoute({
  method: 'POST',
  path: '/events/batch',
  tag,
  summary: 'Send up to 100 events, in their order',
  params: NoParameters,
  query: NoParameters,
  body: EventBatchBody,
  responses: { 200: EventOutcomes },
  handle: async (deps, { caller, body }) => {
    const sent = await sendEvents(deps, caller, body.events);
    return sent.ok ? okay({ outcomes: sent.value.map(showOutcome) }) : sent;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/events',
  tag,
  summary: 'List events, newest first',
  params: NoParameters,
  query: EventQuery,
  responses: { 200: EventList },
  handle: async (deps, { caller, filter }) => {
    const { tenant_id: tenantId, status, limit } = filter;
    const events = await listEvents(deps, caller, { tenantId, status, limit });
    return events.ok ? okay(events.value.map(showListedEvent)) : events;
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/events/{id}',
  tag,
  summary: 'Get an event',
  params: IdPath,
  query: NoParameters,
  responses: { 200: EventEnvelope },
  handle: async ({ store }, { caller, path }) => {
    const event = await store.getEvent(caller.tenantId, path.id);
    return event === null ? notFound('event', path.id) : okay(showEvent(event));
  },
});

export const eventRoutes = [send, sendBatch, list, get];
