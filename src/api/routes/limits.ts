import {
  getBreaker,
  getRateLimit,
  listOfTenant,
  putRateLimit,
  removeRateLimit,
  replaceBudget,
  resetBreaker,
} from '../../engine/limits.ts';
import { defineBodyRoute, defineRoute, emptyOkay, noContent, okay } from '../route.ts';
import {
  BreakerBody,
  BreakerList,
  BreakerPath,
  LimitQuery,
  RateLimitBody,
  RateLimitInput,
  RateLimitList,
  RateLimitPath,
  TenantPath,
  showBreaker,
  showRateLimit,
} from '../schemas/limits.ts';
import { BudgetInput } from '../schemas/start.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const rates = 'rate limits';
const breakers = 'circuit breakers';

const putRate = defineBodyRoute({
  method: 'PUT',
  path: '/tenants/{tenant}/rate-limits/{key}',
  tag: rates,
  summary: 'Set a rate limit',
  params: RateLimitPath,
  query: NoParameters,
  body: RateLimitInput,
  responses: { 200: RateLimitBody },
  handle: async (deps, { caller, path, body }) => {
    const limit = await putRateLimit(deps, caller, {
      tenantId: path.tenant,
      resourceKey: path.key,
      maxCount: body.max_count,
      windowMs: Math.round(body.window_seconds * 1000),
    });
    return limit.ok ? okay(showRateLimit(limit.value)) : limit;
  },
});

const getRate = defineRoute({
  method: 'GET',
  path: '/tenants/{tenant}/rate-limits/{key}',
  tag: rates,
  summary: 'Get a rate limit with its grants of the present window',
  params: RateLimitPath,
  query: NoParameters,
  responses: { 200: RateLimitBody },
  handle: async (deps, { caller, path }) => {
    const limit = await getRateLimit(deps, caller, path.tenant, path.key);
    return limit.ok ? okay(showRateLimit(limit.value)) : limit;
  },
});

const removeRate = defineRoute({
  method: 'DELETE',
  path: '/tenants/{tenant}/rate-limits/{key}',
  tag: rates,
  summary: 'Remove a rate limit: the key does not limit any more',
  params: RateLimitPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async (deps, { caller, path }) => {
    const removed = await removeRateLimit(deps, caller, path.tenant, path.key);
    return removed.ok ? noContent : removed;
  },
});

const listRates = defineRoute({
  method: 'GET',
  path: '/rate-limits',
  tag: rates,
  summary: 'List the rate limits in scope by tenant and key',
  params: NoParameters,
  query: LimitQuery,
  responses: { 200: RateLimitList },
  handle: async ({ store }, { caller, filter }) => {
    const limits = await store.listRateLimits(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(limits.map(showRateLimit));
  },
});

const listRatesOfTenant = defineRoute({
  method: 'GET',
  path: '/tenants/{tenant}/rate-limits',
  tag: rates,
  summary: 'List the rate limits of a tenant by key',
  params: TenantPath,
  query: LimitQuery,
  responses: { 200: RateLimitList },
  handle: async ({ store }, { caller, path, filter }) => {
    const limits = await listOfTenant(caller, path.tenant, (tenant) =>
      store.listRateLimits(tenant, filter.limit),
    );
    return limits.ok ? okay(limits.value.map(showRateLimit)) : limits;
  },
});

const listBreakers = defineRoute({
  method: 'GET',
  path: '/circuit-breakers',
  tag: breakers,
  summary: 'List the circuit breakers in scope by tenant and handler',
  params: NoParameters,
  query: LimitQuery,
  responses: { 200: BreakerList },
  handle: async ({ store }, { caller, filter }) => {
    const list = await store.listBreakers(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(list.map(showBreaker));
  },
});

const listBreakersOfTenant = defineRoute({
  method: 'GET',
  path: '/tenants/{tenant}/circuit-breakers',
  tag: breakers,
  summary: 'List the circuit breakers of a tenant by handler',
  params: TenantPath,
  query: LimitQuery,
  responses: { 200: BreakerList },
  handle: async ({ store }, { caller, path, filter }) => {
    const list = await listOfTenant(caller, path.tenant, (tenant) =>
      store.listBreakers(tenant, filter.limit),
    );
    return list.ok ? okay(list.value.map(showBreaker)) : list;
  },
});

const getOneBreaker = defineRoute({
  method: 'GET',
  path: '/tenants/{tenant}/circuit-breakers/{handler}',
  tag: breakers,
  summary: 'Get the circuit breaker of a handler',
  params: BreakerPath,
  query: NoParameters,
  responses: { 200: BreakerBody },
  handle: async (deps, { caller, path }) => {
    const breaker = await getBreaker(deps, caller, path.tenant, path.handler);
    return breaker.ok ? okay(showBreaker(breaker.value)) : breaker;
  },
});

const reset = defineRoute({
  method: 'POST',
  path: '/tenants/{tenant}/circuit-breakers/{handler}/reset',
  tag: breakers,
  summary: 'Close the circuit breaker of a handler',
  params: BreakerPath,
  query: NoParameters,
  responses: { 200: null },
  handle: async (deps, { caller, path }) => {
    const done = await resetBreaker(deps, caller, path.tenant, path.handler);
    return done.ok ? emptyOkay : done;
  },
});

const patchBudget = defineBodyRoute({
  method: 'PATCH',
  path: '/instances/{id}/budget',
  tag: 'instance actions',
  summary: 'Replace the caps of the budget',
  params: IdPath,
  query: NoParameters,
  body: BudgetInput,
  responses: { 200: null },
  handle: async (deps, { caller, path, body }) => {
    const replaced = await replaceBudget(deps, caller, path.id, body);
    return replaced.ok ? emptyOkay : replaced;
  },
});

export const limitRoutes = [
  listRates,
  listRatesOfTenant,
  putRate,
  getRate,
  removeRate,
  listBreakers,
  listBreakersOfTenant,
  getOneBreaker,
  reset,
  patchBudget,
];
