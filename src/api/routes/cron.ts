import { notFound } from '../../engine/refusal.ts';
import { createSchedule, previewExpression, previewFires, updateSchedule } from '../../engine/schedules.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import {
  NextFires,
  NextFiresQuery,
  PreviewBody,
  ScheduleBody,
  ScheduleBodyInput,
  ScheduleChangeBody,
  ScheduleCreated,
  ScheduleList,
  ScheduleQuery,
  showFires,
  showSchedule,
} from '../schemas/schedule.ts';
import { IdPath, NoParameters, optionalTimestamp } from '../schemas/wire-values.ts';

const tag = 'schedules';

const create = defineBodyRoute({
  method: 'POST',
  path: '/cron',
  tag,
  summary: 'Create a schedule',
  params: NoParameters,
  query: NoParameters,
  body: ScheduleBodyInput,
  responses: { 201: ScheduleCreated },
  handle: async (deps, { caller, body }) => {
    const schedule = await createSchedule(deps, caller, body);
    if (!schedule.ok) return schedule;
    const { id, nextFireAt } = schedule.value;
    return created({ id, next_fire_at: optionalTimestamp(nextFireAt) });
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/cron',
  tag,
  summary: 'List schedules, oldest first',
  params: NoParameters,
  query: ScheduleQuery,
  responses: { 200: ScheduleList },
  handle: async ({ store }, { caller, filter }) => {
    const { limit, offset } = filter;
    const tenantId = caller.tenantId ?? filter.tenant_id;
    return okay((await store.listSchedules({ tenantId, limit, offset })).map(showSchedule));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/cron/{id}',
  tag,
  summary: 'Get a schedule',
  params: IdPath,
  query: NoParameters,
  responses: { 200: ScheduleBody },
  handle: async ({ store }, { caller, path }) => {
    const schedule = await store.getSchedule(caller.tenantId, path.id);
    return schedule === null ? notFound('schedule', path.id) : okay(showSchedule(schedule));
  },
});

const update = defineBodyRoute({
  method: 'PUT',
  path: '/cron/{id}',
  tag,
  summary: 'Change a schedule; what is not given stays',
  params: IdPath,
  query: NoParameters,
  body: ScheduleChangeBody,
  responses: { 200: ScheduleBody },
  handle: async (deps, { caller, path, body }) => {
    const updated = await updateSchedule(deps, caller, path.id, body);
    return updated.ok ? okay(showSchedule(updated.value)) : updated;
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/cron/{id}',
  tag,
  summary: 'Delete a schedule; its instances stay',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) =>
    (await store.deleteSchedule(caller.tenantId, path.id)) ? noContent : notFound('schedule', path.id),
});

const nextFires = defineRoute({
  method: 'GET',
  path: '/cron/{id}/next-fires',
  tag,
  summary: 'Preview the next fires of a schedule',
  params: IdPath,
  query: NextFiresQuery,
  responses: { 200: NextFires },
  handle: async (deps, { caller, path, filter }) => {
    const preview = await previewFires(deps, caller, path.id, { from: filter.from, count: filter.n });
    return preview.ok ? okay(showFires(preview.value)) : preview;
  },
});

const preview = defineBodyRoute({
  method: 'POST',
  path: '/cron/preview',
  tag,
  summary: 'Preview the fires of an expression that is not stored',
  params: NoParameters,
  query: NoParameters,
  body: PreviewBody,
  responses: { 200: NextFires },
  handle: async (deps, { body }) => {
    const fires = await previewExpression(deps, body.schedule, body.page);
    return fires.ok ? okay(showFires(fires.value)) : fires;
  },
});

export const cronRoutes = [create, list, get, update, remove, nextFires, preview];
