import type { TenantPlan, TenantPlans } from './plans.ts';

/** The plan of a tenant; null: it has none and no limits. */
export function planOf(plans: TenantPlans | undefined, tenantId: string): TenantPlan | null {
  if (plans === undefined) return null;
  if (Object.hasOwn(plans, tenantId)) return plans[tenantId] ?? null;
  return Object.hasOwn(plans, '*') ? (plans['*'] ?? null) : null;
}
