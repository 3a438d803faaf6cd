import { readLimits } from '../../engine/limits-overview.ts';
import { defineRoute, okay } from '../route.ts';
import { LimitsBody, LimitsQuery, showLimits } from '../schemas/limits-overview.ts';
import { NoParameters } from '../schemas/wire-values.ts';

export const limitsOverviewRoute = defineRoute({
  method: 'GET',
  path: '/limits',
  tag: 'limits',
  summary:
    'Who holds the slots of concurrency keys and who waits for them in line; how far rate limits are used',
  params: NoParameters,
  query: LimitsQuery,
  responses: { 200: LimitsBody },
  handle: async (deps, { caller, filter }) => {
    const { tenant_id: tenantId, concurrency_key: key, limit, offset } = filter;
    return okay(showLimits(await readLimits(deps, caller, { tenantId, key, limit, offset })));
  },
});
