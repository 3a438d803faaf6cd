import * as z from 'zod';
import { listEffects } from '../../engine/list-effects.ts';
import { refuse } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import { EffectList, showEffect } from '../schemas/effect.ts';
import { FilterParameter, IdPath } from '../schemas/wire-values.ts';

export const effectRoute = defineRoute({
  method: 'GET',
  path: '/instances/{id}/effects',
  tag: 'instances',
  summary: 'What is known of the outside effects of the steps, one receipt per attempt, oldest first',
  params: IdPath,
  query: z.object({ tenant_id: FilterParameter }),
  responses: { 200: EffectList },
  handle: async (deps, { caller, path, filter }) => {
    const tenantId = caller.tenantId ?? filter.tenant_id;
    if (tenantId === null) {
      return refuse('invalid_argument', 'missing field `tenant_id`', { code: 'invalid_shape' });
    }
    const found = await listEffects(deps, { ...caller, tenantId }, path.id);
    if (!found.ok) return found;
    return okay(found.value.map((receipt) => showEffect({ tenantId, instanceId: path.id }, receipt)));
  },
});
