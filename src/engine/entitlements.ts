import { canonicalJson, type Json, type JsonObject, utf8Bytes } from '../core/json.ts';
import { planOf } from '../core/plan-of.ts';
import type { TenantPlan } from '../core/plans.ts';
import type { StartRequest } from '../ports/store/accept.ts';
import { refuse, type Refusal, type Refused } from './refusal.ts';
import type { UseCaseDeps } from './use-case.ts';

type PlanDeps = Pick<UseCaseDeps, 'limits'>;

/** What a plan looks at of an instance that is to be started. */
interface Asked {
  readonly tenantId: string;
  readonly namespace: string;
  readonly context: { readonly data: Json; readonly config: JsonObject; readonly audit: readonly Json[] };
}

/**
 * What the plans of tenants say about a start, in the order of http-api.md 26: how many (429), how large (413), where
 * (403). How many may be active is for the store to say, together with the insert.
 */
export function checkPlans(deps: PlanDeps, inputs: readonly Asked[]): Refusal | null {
  if (deps.limits.plans === undefined) return null;
  const checks = [checkSize, checkContext, checkNamespace];
  const planned = [...byTenant(inputs)].flatMap(([tenantId, own]) => {
    const plan = planOf(deps.limits.plans, tenantId);
    return plan === null ? [] : [{ plan, own }];
  });
  for (const check of checks) {
    for (const { plan, own } of planned) {
      const refused = check(plan, own);
      if (refused !== null) return refused.error;
    }
  }
  return null;
}

/** The part of a start that bounds active instances and those of a second; empty when no plan does. */
export function activeLimits(
  deps: PlanDeps,
  instances: readonly { readonly tenantId: string }[],
): Pick<StartRequest, 'activeLimits'> {
  if (deps.limits.plans === undefined) return {};
  const limits = [...new Set(instances.map(({ tenantId }) => tenantId))].flatMap((tenantId) => {
    const plan = planOf(deps.limits.plans, tenantId);
    const bound = {
      ...(plan === null || plan.max_active_instances === 0 ? {} : { maxActive: plan.max_active_instances }),
      ...(plan === null || plan.max_starts_per_second === 0
        ? {}
        : { startsPerSec: plan.max_starts_per_second }),
    };
    return Object.keys(bound).length === 0 ? [] : [{ tenantId, ...bound }];
  });
  return limits.length === 0 ? {} : { activeLimits: limits };
}

/** The plan of a tenant allows no more active instances, or no more starts in this second. */
export function planFull(
  deps: PlanDeps,
  { tenantId, status }: { readonly tenantId: string; readonly status: 'plan_full' | 'plan_rate' },
): Refused {
  if (status === 'plan_rate') {
    const perSecond = planOf(deps.limits.plans, tenantId)?.max_starts_per_second ?? 0;
    return refuse('rate_limited', startsAllowed(perSecond), {
      code: 'plan_starts_per_second',
      details: { limit: perSecond },
      retryAfterSecs: 1,
    });
  }
  const limit = planOf(deps.limits.plans, tenantId)?.max_active_instances ?? 0;
  return refuse('rate_limited', `the plan allows ${limit} active instances`, {
    code: 'plan_active_instances',
    details: { limit },
    retryAfterSecs: 1,
  });
}

const startsAllowed = (limit: number): string => `the plan allows ${limit} starts in a second`;

function checkSize(
  { max_batch_instances: limit, max_starts_per_second: perSecond }: TenantPlan,
  own: readonly Asked[],
): Refused | null {
  if (perSecond !== 0 && own.length > perSecond) {
    // Waiting would not help.
    const details = { limit: perSecond };
    return refuse('rate_limited', startsAllowed(perSecond), { code: 'plan_starts_per_second', details });
  }
  if (limit === 0 || own.length <= limit) return null;
  return refuse('rate_limited', `the plan allows ${limit} instances in one request`, {
    code: 'plan_batch_instances',
    details: { limit },
  });
}

function checkContext({ max_context_bytes: limit }: TenantPlan, own: readonly Asked[]): Refused | null {
  if (limit === 0) return null;
  for (const { context } of own) {
    const bytes = utf8Bytes(canonicalJson({ ...context }));
    if (bytes > limit) {
      return refuse('payload_too_large', `context too large: ${bytes} bytes, the plan allows ${limit}`, {
        code: 'plan_context_bytes',
        details: { limit },
      });
    }
  }
  return null;
}

function checkNamespace({ allowed_namespaces: allowed }: TenantPlan, own: readonly Asked[]): Refused | null {
  const other = own.find(({ namespace }) => !allowed.includes(namespace));
  if (allowed.length === 0 || other === undefined) return null;
  return refuse('forbidden', `namespace ${other.namespace} is not in the plan`, { code: 'plan_namespace' });
}

function byTenant(inputs: readonly Asked[]): ReadonlyMap<string, readonly Asked[]> {
  const groups = new Map<string, Asked[]>();
  for (const input of inputs) {
    const group = groups.get(input.tenantId);
    if (group === undefined) groups.set(input.tenantId, [input]);
    else group.push(input);
  }
  return groups;
}
