import { addResource, changeResource, createPool } from '../../engine/limits.ts';
import { notFound } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import {
  LimitQuery,
  PoolBody,
  PoolInput,
  PoolList,
  ResourceBody,
  ResourceInput,
  ResourceList,
  ResourcePatch,
  ResourcePath,
  showPool,
  showResource,
} from '../schemas/limits.ts';
import { IdPath, NoParameters, PageQuery } from '../schemas/wire-values.ts';

const tag = 'resource pools';

const create = defineBodyRoute({
  method: 'POST',
  path: '/pools',
  tag,
  summary: 'Create a resource pool',
  params: NoParameters,
  query: NoParameters,
  body: PoolInput,
  responses: { 201: PoolBody },
  handle: async (deps, { caller, body }) => {
    const pool = await createPool(deps, caller, body);
    return pool.ok ? created(showPool(pool.value)) : pool;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/pools',
  tag,
  summary: 'List resource pools by name',
  params: NoParameters,
  query: LimitQuery,
  responses: { 200: PoolList },
  handle: async ({ store }, { caller, filter }) => {
    const pools = await store.listPools(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(pools.map(showPool));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/pools/{id}',
  tag,
  summary: 'Get a resource pool',
  params: IdPath,
  query: NoParameters,
  responses: { 200: PoolBody },
  handle: async ({ store }, { caller, path }) => {
    const pool = await store.getPool(caller.tenantId, path.id);
    return pool === null ? notFound('pool', path.id) : okay(showPool(pool));
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/pools/{id}',
  tag,
  summary: 'Delete a resource pool with its resources',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) =>
    (await store.deletePool(caller.tenantId, path.id)) ? noContent : notFound('pool', path.id),
});

const listResources = defineRoute({
  method: 'GET',
  path: '/pools/{id}/resources',
  tag,
  summary: 'List the resources of a pool, oldest first',
  params: IdPath,
  query: PageQuery,
  responses: { 200: ResourceList },
  handle: async ({ store }, { caller, path, filter }) => {
    const resources = await store.listResources(caller.tenantId, path.id, filter);
    return resources === null ? notFound('pool', path.id) : okay(resources.map(showResource));
  },
});

const addOne = defineBodyRoute({
  method: 'POST',
  path: '/pools/{id}/resources',
  tag,
  summary: 'Add a resource to a pool',
  params: IdPath,
  query: NoParameters,
  body: ResourceInput,
  responses: { 201: ResourceBody },
  handle: async (deps, { caller, path, body }) => {
    const resource = await addResource(deps, caller, path.id, body);
    return resource.ok ? created(showResource(resource.value)) : resource;
  },
});

const change = defineBodyRoute({
  method: 'PUT',
  path: '/pools/{id}/resources/{rid}',
  tag,
  summary: 'Change members of a resource',
  params: ResourcePath,
  query: NoParameters,
  body: ResourcePatch,
  responses: { 200: ResourceBody },
  handle: async (deps, { caller, path, body }) => {
    const ids = { poolId: path.id, resourceId: path.rid };
    const resource = await changeResource(deps, caller, ids, body);
    return resource.ok ? okay(showResource(resource.value)) : resource;
  },
});

const removeOne = defineRoute({
  method: 'DELETE',
  path: '/pools/{id}/resources/{rid}',
  tag,
  summary: 'Remove a resource from a pool',
  params: ResourcePath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) => {
    const answer = await store.deleteResource(caller.tenantId, path.id, path.rid);
    if (answer === 'no_pool') return notFound('pool', path.id);
    return answer === 'foreign' ? notFound('resource', path.rid) : noContent;
  },
});

export const poolRoutes = [create, list, get, remove, listResources, addOne, change, removeOne];
