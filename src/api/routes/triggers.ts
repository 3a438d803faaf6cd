import * as z from 'zod';
import type { Json } from '../../core/json.ts';
import { fireTrigger } from '../../engine/fire-trigger.ts';
import { notFound } from '../../engine/refusal.ts';
import { createTrigger } from '../../engine/triggers.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import { NoParameters, SlugPath } from '../schemas/wire-values.ts';
import {
  FiredBody,
  showTrigger,
  TriggerBody,
  TriggerInput,
  TriggerList,
  TriggerQuery,
} from '../schemas/trigger.ts';

const tag = 'triggers';

const create = defineBodyRoute({
  method: 'POST',
  path: '/triggers',
  tag,
  summary: 'Create a trigger',
  params: NoParameters,
  query: NoParameters,
  body: TriggerInput,
  responses: { 201: TriggerBody },
  handle: async (deps, { caller, body }) => {
    const trigger = await createTrigger(deps, caller, body);
    return trigger.ok ? created(showTrigger(trigger.value)) : trigger;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/triggers',
  tag,
  summary: 'List triggers, oldest first',
  params: NoParameters,
  query: TriggerQuery,
  responses: { 200: TriggerList },
  handle: async ({ store }, { caller, filter }) => {
    const triggers = await store.listTriggers(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(triggers.map(showTrigger));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/triggers/{slug}',
  tag,
  summary: 'Get a trigger',
  params: SlugPath,
  query: NoParameters,
  responses: { 200: TriggerBody },
  handle: async ({ store }, { caller, path }) => {
    const trigger = await store.getTrigger(caller.tenantId, path.slug);
    return trigger === null ? notFound('trigger', path.slug) : okay(showTrigger(trigger));
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/triggers/{slug}',
  tag,
  summary: 'Delete a trigger',
  params: SlugPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) =>
    (await store.deleteTrigger(caller.tenantId, path.slug)) ? noContent : notFound('trigger', path.slug),
});

const fire = defineBodyRoute({
  method: 'POST',
  path: '/triggers/{slug}/fire',
  tag,
  summary: 'Start an instance through a trigger',
  params: SlugPath,
  query: NoParameters,
  body: z.custom<Json | undefined>(),
  bodyOptional: true,
  responses: { 201: FiredBody },
  handle: async (deps, { caller, path, body, header }) => {
    const fired = await fireTrigger(deps, caller, {
      slug: path.slug,
      secret: header('x-trigger-secret'),
      payload: body,
    });
    if (!fired.ok) return fired;
    const { instanceId, slug, sequenceName } = fired.value;
    return created({ instance_id: instanceId, trigger: slug, sequence_name: sequenceName });
  },
});

export const triggerRoutes = [create, list, get, remove, fire];
