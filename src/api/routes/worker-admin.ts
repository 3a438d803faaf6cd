import { pinVersion, sendCommand } from '../../engine/worker-admin.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';
import {
  CommandBody,
  CommandInput,
  CommandList,
  LimitQuery,
  PinBody,
  PinInput,
  PinList,
  PinPath,
  showCommand,
  showPin,
  TenantQuery,
  WorkerPath,
} from '../schemas/worker-admin.ts';

const tag = 'workers';
const access = 'admin';

const command = defineBodyRoute({
  method: 'POST',
  path: '/workers/commands',
  tag,
  access,
  summary: 'Leave a command for a worker',
  params: NoParameters,
  query: NoParameters,
  body: CommandInput,
  responses: { 201: CommandBody },
  handle: async (deps, { body }) => {
    const { worker_id: workerId, command: name, payload } = body;
    const left = await sendCommand(deps, { workerId, command: name, payload });
    return left.ok ? created(showCommand(left.value)) : left;
  },
});

/** Workers read and acknowledge their commands with a key of their tenant. */
const commands = defineRoute({
  method: 'GET',
  path: '/workers/{worker_id}/commands',
  tag,
  access: 'key',
  summary: 'Commands of a worker, oldest first',
  params: WorkerPath,
  query: LimitQuery,
  responses: { 200: CommandList },
  handle: async ({ store }, { caller, path, filter }) =>
    okay((await store.listCommands(caller.tenantId, path.worker_id, filter.limit)).map(showCommand)),
});

const acknowledge = defineRoute({
  method: 'DELETE',
  path: '/workers/commands/{id}',
  tag,
  access: 'key',
  summary: 'Take a command away, once it was followed',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) => {
    await store.deleteCommand(caller.tenantId, path.id);
    return noContent;
  },
});

const pin = defineBodyRoute({
  method: 'POST',
  path: '/workers/version-pins',
  tag,
  access,
  summary: 'Give tasks of a handler to workers of a version and above only',
  params: NoParameters,
  query: NoParameters,
  body: PinInput,
  responses: { 200: PinBody },
  handle: async (deps, { caller, body }) => {
    const { tenant_id: tenantId, handler_name: handlerName, min_version: minVersion } = body;
    const pinned = await pinVersion(deps, caller, { tenantId, handlerName, minVersion });
    return pinned.ok ? okay(showPin(pinned.value)) : pinned;
  },
});

const pins = defineRoute({
  method: 'GET',
  path: '/workers/version-pins',
  tag,
  access,
  summary: 'Version pins by tenant and handler',
  params: NoParameters,
  query: TenantQuery,
  responses: { 200: PinList },
  handle: async ({ store }, { caller, filter }) => {
    const found = await store.listVersionPins(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(found.map(showPin));
  },
});

const unpin = defineRoute({
  method: 'DELETE',
  path: '/workers/version-pins/{tenant_id}/{handler_name}',
  tag,
  access,
  summary: 'Remove a version pin',
  params: PinPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) => {
    if (caller.tenantId === null || caller.tenantId === path.tenant_id) {
      await store.deleteVersionPin(path.tenant_id, path.handler_name);
    }
    return noContent;
  },
});

export const workerAdminRoutes = [command, commands, acknowledge, pin, pins, unpin];
