import { changePlugin, createPlugin, removePlugin } from '../../engine/plugins.ts';
import { notFound } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import {
  PluginBody,
  PluginList,
  PluginPatchBody,
  PluginPath,
  PluginQuery,
  PluginShown,
  showPlugin,
} from '../schemas/plugin.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'plugins';

const create = defineBodyRoute({
  method: 'POST',
  path: '/plugins',
  tag,
  summary: 'Keep a plugin; nothing runs plugins yet',
  params: NoParameters,
  query: NoParameters,
  body: PluginBody,
  responses: { 201: PluginShown },
  handle: async (deps, { caller, body }) => {
    const plugin = await createPlugin(deps, caller, body);
    return plugin.ok ? created(showPlugin(plugin.value)) : plugin;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/plugins',
  tag,
  summary: 'List plugins by name',
  params: NoParameters,
  query: PluginQuery,
  responses: { 200: PluginList },
  handle: async ({ store }, { caller, filter }) => {
    const tenantId = caller.tenantId ?? filter.tenant_id;
    const plugins = await store.listPlugins({
      tenantId,
      pluginType: filter.plugin_type,
      limit: filter.limit,
    });
    return okay(plugins.map(showPlugin));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/plugins/{name}',
  tag,
  summary: 'Get a plugin',
  params: PluginPath,
  query: NoParameters,
  responses: { 200: PluginShown },
  handle: async ({ store }, { caller, path }) => {
    const plugin = await store.getPlugin(caller.tenantId, path.name);
    return plugin === null ? notFound('plugin', path.name) : okay(showPlugin(plugin));
  },
});

const change = defineBodyRoute({
  method: 'PATCH',
  path: '/plugins/{name}',
  tag,
  summary: 'Change a plugin; what is not given stays',
  params: PluginPath,
  query: NoParameters,
  body: PluginPatchBody,
  responses: { 200: PluginShown },
  handle: async (deps, { caller, path, body }) => {
    const plugin = await changePlugin(deps, caller, path.name, body);
    return plugin.ok ? okay(showPlugin(plugin.value)) : plugin;
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/plugins/{name}',
  tag,
  summary: 'Delete a plugin',
  params: PluginPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async (deps, { caller, path }) => {
    const removed = await removePlugin(deps, caller, path.name);
    return removed.ok ? noContent : removed;
  },
});

export const pluginRoutes = [create, list, get, change, remove];
