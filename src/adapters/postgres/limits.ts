import type { LimitStore, RateLimit, Breaker, Pool, Resource } from '../../ports/store/limits.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

/** The tenant is in every predicate as well as in the policy (DESIGN 6); null sees all tenants. */
const OF_TENANT = '($1::text IS NULL OR k.tenant_id = $1)';

const RATE = `json_build_object('tenantId', k.tenant_id, 'resourceKey', k.resource_key, 'maxCount', k.max_count,
  'windowMs', k.window_ms, 'currentCount', coalesce(g.used, 0), 'windowStart', stepwell.to_ms(g.oldest),
  'createdAt', stepwell.to_ms(k.created_at), 'updatedAt', stepwell.to_ms(k.updated_at))`;

/** Grants that have left the window may still be stored; they are not counted. */
const WITH_GRANTS = `LEFT JOIN LATERAL (
    SELECT sum(r.grants) AS used, min(r.granted_at) AS oldest FROM stepwell.rate_grants r
    WHERE r.tenant_id = k.tenant_id AND r.resource_key = k.resource_key
      AND r.granted_at > stepwell.sw_now() - k.window_ms * interval '1 millisecond'
  ) g ON true`;

const PUT_RATE = `
INSERT INTO stepwell.rate_limits AS l (tenant_id, resource_key, max_count, window_ms, created_at, updated_at)
VALUES ($1, $2, $3, $4, stepwell.sw_now(), stepwell.sw_now())
ON CONFLICT ON CONSTRAINT rate_limits_pkey DO UPDATE
SET max_count = excluded.max_count, window_ms = excluded.window_ms, updated_at = excluded.updated_at
RETURNING (SELECT ${RATE} FROM (SELECT l.*) k ${WITH_GRANTS})`;

const GET_RATE = `
SELECT ${RATE} FROM stepwell.rate_limits k ${WITH_GRANTS} WHERE k.tenant_id = $1 AND k.resource_key = $2`;

const LIST_RATES = `
SELECT coalesce(json_agg(${RATE} ORDER BY k.tenant_id, k.resource_key), '[]')
FROM (
  SELECT * FROM stepwell.rate_limits k WHERE ${OF_TENANT} ORDER BY k.tenant_id, k.resource_key LIMIT $2
) k ${WITH_GRANTS}`;

const DELETE_RATE = `
WITH gone AS (
  DELETE FROM stepwell.rate_limits k WHERE k.tenant_id = $1 AND k.resource_key = $2 RETURNING k.tenant_id, k.resource_key
), grants AS (
  DELETE FROM stepwell.rate_grants g USING gone WHERE g.tenant_id = gone.tenant_id AND g.resource_key = gone.resource_key
)
SELECT count(*) FROM gone`;

const BREAKER = `json_build_object('tenantId', k.tenant_id, 'handler', k.handler, 'state', k.state,
  'failureCount', k.failure_count, 'failureThreshold', k.failure_threshold, 'cooldownMs', k.cooldown_ms,
  'openedAt', stepwell.to_ms(k.opened_at), 'probeUntil', stepwell.to_ms(k.probe_until), 'lastError', k.last_error)`;

const GET_BREAKER = `SELECT ${BREAKER} FROM stepwell.circuit_breakers k WHERE k.tenant_id = $1 AND k.handler = $2`;

const LIST_BREAKERS = `
SELECT coalesce(json_agg(${BREAKER} ORDER BY k.tenant_id, k.handler), '[]')
FROM (
  SELECT * FROM stepwell.circuit_breakers k WHERE ${OF_TENANT} ORDER BY k.tenant_id, k.handler LIMIT $2
) k`;

const RESET_BREAKER = `
UPDATE stepwell.circuit_breakers k
SET state = 'closed', failure_count = 0, opened_at = NULL, probe_instance_id = NULL, probe_until = NULL,
  updated_at = stepwell.sw_now()
WHERE k.tenant_id = $1 AND k.handler = $2 AND k.failure_count > 0
RETURNING k.handler`;

const POOL = `json_build_object('id', k.id, 'tenantId', k.tenant_id, 'name', k.name, 'strategy', k.strategy,
  'roundRobinIndex', k.round_robin_index, 'createdAt', stepwell.to_ms(k.created_at),
  'updatedAt', stepwell.to_ms(k.updated_at))`;

/** The same id again, after a lost answer, is the same pool. */
const CREATE_POOL = `
INSERT INTO stepwell.resource_pools AS k (id, tenant_id, name, strategy, created_at, updated_at)
VALUES ($2, $1, $3, $4, stepwell.sw_now(), stepwell.sw_now())
ON CONFLICT ON CONSTRAINT resource_pools_pkey DO UPDATE SET name = k.name
RETURNING ${POOL}`;

const GET_POOL = `SELECT ${POOL} FROM stepwell.resource_pools k WHERE ${OF_TENANT} AND k.id = $2`;

const LIST_POOLS = `
SELECT coalesce(json_agg(${POOL} ORDER BY k.name, k.id), '[]')
FROM (SELECT * FROM stepwell.resource_pools k WHERE ${OF_TENANT} ORDER BY k.name, k.id LIMIT $2) k`;

const DELETE_POOL = `
WITH gone AS (
  DELETE FROM stepwell.resource_pools k WHERE ${OF_TENANT} AND k.id = $2 RETURNING k.id, k.tenant_id
), resources AS (
  DELETE FROM stepwell.pool_resources r USING gone WHERE r.pool_id = gone.id AND r.tenant_id = gone.tenant_id
)
SELECT count(*) FROM gone`;

const RESOURCE = `json_build_object('id', k.id, 'poolId', k.pool_id, 'resourceKey', k.resource_key, 'name', k.name,
  'weight', k.weight, 'enabled', k.enabled, 'dailyCap', k.daily_cap, 'dailyUsage', k.daily_usage,
  'dailyUsageDate', k.daily_usage_date, 'warmupStart', k.warmup_start, 'warmupDays', k.warmup_days,
  'warmupStartCap', k.warmup_start_cap, 'createdAt', stepwell.to_ms(k.created_at))`;

const LIST_RESOURCES = `
SELECT (
  SELECT coalesce(json_agg(${RESOURCE} ORDER BY k.created_at, k.id), '[]')
  FROM (
    SELECT r.* FROM stepwell.pool_resources r WHERE r.pool_id = p.id AND r.tenant_id = p.tenant_id
    ORDER BY r.created_at, r.id LIMIT $3::integer OFFSET $4::integer) k)
FROM stepwell.resource_pools p WHERE ($1::text IS NULL OR p.tenant_id = $1) AND p.id = $2`;

/** The pool is locked, so that an attempt which it denies as it was is committed before those who wait for it are woken. */
const ADD_RESOURCE = `
WITH p AS (
  SELECT o.id, o.tenant_id FROM stepwell.resource_pools o
  WHERE ($1::text IS NULL OR o.tenant_id = $1) AND o.id = $2 FOR UPDATE
)
INSERT INTO stepwell.pool_resources AS k (id, pool_id, tenant_id, resource_key, name, weight, enabled, daily_cap,
  warmup_start, warmup_days, warmup_start_cap, created_at)
SELECT $3, p.id, p.tenant_id, r.v ->> 'resourceKey', r.v ->> 'name', (r.v ->> 'weight')::integer,
  (r.v ->> 'enabled')::boolean, (r.v ->> 'dailyCap')::integer, (r.v ->> 'warmupStart')::date,
  (r.v ->> 'warmupDays')::integer, (r.v ->> 'warmupStartCap')::integer, stepwell.sw_now()
FROM p CROSS JOIN (SELECT $4::jsonb AS v) r
ON CONFLICT ON CONSTRAINT pool_resources_pkey DO UPDATE SET name = k.name
RETURNING ${RESOURCE}`;

const CHANGE_RESOURCE = `
WITH p AS (
  SELECT o.id FROM stepwell.resource_pools o
  WHERE ($1::text IS NULL OR o.tenant_id = $1) AND o.id = $2 FOR UPDATE
)
UPDATE stepwell.pool_resources k
SET name = coalesce(r.v ->> 'name', k.name),
  weight = coalesce((r.v ->> 'weight')::integer, k.weight),
  enabled = coalesce((r.v ->> 'enabled')::boolean, k.enabled),
  daily_cap = coalesce((r.v ->> 'dailyCap')::integer, k.daily_cap),
  warmup_start = CASE WHEN r.v ? 'warmupStart' THEN (r.v ->> 'warmupStart')::date ELSE k.warmup_start END,
  warmup_days = coalesce((r.v ->> 'warmupDays')::integer, k.warmup_days),
  warmup_start_cap = coalesce((r.v ->> 'warmupStartCap')::integer, k.warmup_start_cap)
FROM p, (SELECT $4::jsonb AS v) r
WHERE ${OF_TENANT} AND k.pool_id = p.id AND k.id = $3
RETURNING ${RESOURCE}`;

const DELETE_RESOURCE = `
WITH pool AS (
  SELECT p.id, p.tenant_id FROM stepwell.resource_pools p WHERE ($1::text IS NULL OR p.tenant_id = $1) AND p.id = $2
), foreign_one AS (
  SELECT 1 FROM stepwell.pool_resources k JOIN pool ON k.tenant_id = pool.tenant_id AND k.pool_id <> pool.id
  WHERE k.id = $3
), gone AS (
  DELETE FROM stepwell.pool_resources k USING pool
  WHERE k.id = $3 AND k.pool_id = pool.id AND k.tenant_id = pool.tenant_id
)
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM pool) THEN 'no_pool'
  WHEN EXISTS (SELECT 1 FROM foreign_one) THEN 'foreign' ELSE 'deleted' END`;

const SET_BUDGET = 'SELECT stepwell.set_budget_v1($1, $2, $3, $4::jsonb)';

export function createLimitStore(driver: SqlDriver): LimitStore {
  return { ...createRateStore(driver), ...createPoolStore(driver), ...createResourceStore(driver) };
}

function createRateStore(
  driver: SqlDriver,
): Pick<
  LimitStore,
  | 'putRateLimit'
  | 'getRateLimit'
  | 'listRateLimits'
  | 'deleteRateLimit'
  | 'getBreaker'
  | 'listBreakers'
  | 'resetBreaker'
  | 'setBudget'
> {
  return {
    async putRateLimit({ tenantId, resourceKey, maxCount, windowMs }) {
      const params = [tenantId, resourceKey, maxCount, windowMs];
      return answerOf<RateLimit>(await tenantCall(driver, tenantId, PUT_RATE, params));
    },
    async getRateLimit(tenantId, key) {
      const rows = await tenantCall(driver, tenantId, GET_RATE, [tenantId, key]);
      return answerOf<RateLimit | undefined>(rows) ?? null;
    },
    async listRateLimits(tenantId, limit) {
      return answerOf<RateLimit[]>(await tenantCall(driver, tenantId, LIST_RATES, [tenantId, limit]));
    },
    async deleteRateLimit(tenantId, key) {
      return Number(answerOf(await tenantCall(driver, tenantId, DELETE_RATE, [tenantId, key]))) > 0;
    },
    async getBreaker(tenantId, handler) {
      const rows = await tenantCall(driver, tenantId, GET_BREAKER, [tenantId, handler]);
      return answerOf<Breaker | undefined>(rows) ?? null;
    },
    async listBreakers(tenantId, limit) {
      return answerOf<Breaker[]>(await tenantCall(driver, tenantId, LIST_BREAKERS, [tenantId, limit]));
    },
    async resetBreaker(tenantId, handler) {
      await tenantCall(driver, tenantId, RESET_BREAKER, [tenantId, handler]);
    },
    async setBudget({ tenantId, instanceId, factId, budget }) {
      if (!isUuid(instanceId)) return 'not_found';
      return answerOf(await call(driver, SET_BUDGET, [tenantId, instanceId, factId, JSON.stringify(budget)]));
    },
  };
}

function createPoolStore(
  driver: SqlDriver,
): Pick<LimitStore, 'createPool' | 'getPool' | 'listPools' | 'deletePool'> {
  return {
    async createPool({ id, tenantId, name, strategy }) {
      return answerOf<Pool>(await tenantCall(driver, tenantId, CREATE_POOL, [tenantId, id, name, strategy]));
    },
    async getPool(tenantId, id) {
      if (!isUuid(id)) return null;
      return answerOf<Pool | undefined>(await tenantCall(driver, tenantId, GET_POOL, [tenantId, id])) ?? null;
    },
    async listPools(tenantId, limit) {
      return answerOf<Pool[]>(await tenantCall(driver, tenantId, LIST_POOLS, [tenantId, limit]));
    },
    async deletePool(tenantId, id) {
      if (!isUuid(id)) return false;
      return Number(answerOf(await tenantCall(driver, tenantId, DELETE_POOL, [tenantId, id]))) > 0;
    },
  };
}

function createResourceStore(
  driver: SqlDriver,
): Pick<LimitStore, 'listResources' | 'addResource' | 'changeResource' | 'deleteResource'> {
  return {
    async listResources(tenantId, poolId, page) {
      if (!isUuid(poolId)) return null;
      const params = [tenantId, poolId, page?.limit ?? null, page?.offset ?? 0];
      const rows = await tenantCall(driver, tenantId, LIST_RESOURCES, params);
      return answerOf<Resource[] | undefined>(rows) ?? null;
    },
    async addResource(tenantId, poolId, resource) {
      if (!isUuid(poolId)) return null;
      const params = [tenantId, poolId, resource.id, JSON.stringify(resource)];
      const rows = await tenantCall(driver, tenantId, ADD_RESOURCE, params);
      return answerOf<Resource | undefined>(rows) ?? null;
    },
    async changeResource(tenantId, poolId, id, change) {
      if (!isUuid(poolId) || !isUuid(id)) return null;
      const params = [tenantId, poolId, id, JSON.stringify(change)];
      const rows = await tenantCall(driver, tenantId, CHANGE_RESOURCE, params);
      return answerOf<Resource | undefined>(rows) ?? null;
    },
    async deleteResource(tenantId, poolId, id) {
      if (!isUuid(poolId)) return 'no_pool';
      if (!isUuid(id)) return (await this.listResources(tenantId, poolId)) === null ? 'no_pool' : 'deleted';
      return answerOf(await tenantCall(driver, tenantId, DELETE_RESOURCE, [tenantId, poolId, id]));
    },
  };
}
