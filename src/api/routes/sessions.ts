import { notFound } from '../../engine/refusal.ts';
import { createSession, findSession, setSessionData, setSessionState } from '../../engine/sessions.ts';
import { created, defineBodyRoute, defineRoute, emptyOkay, okay } from '../route.ts';
import { InstanceList, showInstance } from '../schemas/instance.ts';
import {
  SessionBody,
  SessionDataBody,
  SessionInput,
  SessionKeyPath,
  SessionStateBody,
  showSession,
} from '../schemas/session.ts';
import { IdPath, NoParameters, PageQuery } from '../schemas/wire-values.ts';

const tag = 'sessions';

const create = defineBodyRoute({
  method: 'POST',
  path: '/sessions',
  tag,
  summary: 'Create a session',
  params: NoParameters,
  query: NoParameters,
  body: SessionInput,
  responses: { 201: SessionBody },
  handle: async (deps, { caller, body }) => {
    const session = await createSession(deps, caller, body);
    return session.ok ? created(showSession(session.value)) : session;
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/sessions/{id}',
  tag,
  summary: 'Get a session',
  params: IdPath,
  query: NoParameters,
  responses: { 200: SessionBody },
  handle: async ({ store }, { caller, path }) => {
    const session = await store.getSession(caller.tenantId, path.id);
    return session === null ? notFound('session', path.id) : okay(showSession(session));
  },
});

const byKey = defineRoute({
  method: 'GET',
  path: '/sessions/by-key/{tenant_id}/{key}',
  tag,
  summary: 'Get a session by its key',
  params: SessionKeyPath,
  query: NoParameters,
  responses: { 200: SessionBody },
  handle: async (deps, { caller, path }) => {
    const session = await findSession(deps, caller, path.tenant_id, path.key);
    return session.ok ? okay(showSession(session.value)) : session;
  },
});

const setData = defineBodyRoute({
  method: 'PATCH',
  path: '/sessions/{id}/data',
  tag,
  summary: 'Replace the data of a session',
  params: IdPath,
  query: NoParameters,
  body: SessionDataBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const changed = await setSessionData(deps, caller, path.id, body.data);
    return changed.ok ? emptyOkay : changed;
  },
});

const setState = defineBodyRoute({
  method: 'PATCH',
  path: '/sessions/{id}/state',
  tag,
  summary: 'Set the state of a session',
  params: IdPath,
  query: NoParameters,
  body: SessionStateBody,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const changed = await setSessionState(deps, caller, path.id, body.state);
    return changed.ok ? emptyOkay : changed;
  },
});

const instances = defineRoute({
  method: 'GET',
  path: '/sessions/{id}/instances',
  tag,
  summary: 'List the instances of a session, oldest first',
  params: IdPath,
  query: PageQuery,
  responses: { 200: InstanceList },
  handle: async ({ store }, { caller, path, filter }) => {
    const found = await store.listSessionInstances(caller.tenantId, path.id, filter);
    return found === null ? notFound('session', path.id) : okay(found.map(showInstance));
  },
});

export const sessionRoutes = [create, get, byKey, setData, setState, instances];
