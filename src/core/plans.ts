import * as z from 'zod';

/** 0 and an empty list mean unlimited (http-api.md 26). */
const count = z.int().min(0).default(0);

export const TenantPlan = z.object({
  plan_id: z.string().min(1).default('custom'),
  /** Instances that have not ended, dry runs included. */
  max_active_instances: count,
  /** Starts within a second. Those of schedules, emits and forks count too; only those by API, batch and trigger are refused. */
  max_starts_per_second: count,
  max_batch_instances: count,
  max_context_bytes: count,
  allowed_namespaces: z.array(z.string()).default([]),
  features: z.array(z.string()).default([]),
});
export type TenantPlan = z.infer<typeof TenantPlan>;

/** Plans by tenant; the one of `*` is that of all tenants without one of their own. */
export const TenantPlans = z.record(z.string().min(1), TenantPlan);
export type TenantPlans = z.infer<typeof TenantPlans>;
