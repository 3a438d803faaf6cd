import * as z from 'zod';
import { INSTANCE_STATES, type InstanceState } from '../../core/run/states.ts';
import { FilterParameter, limitParameter, OffsetParameter, TextParameter, UuidFilter } from './common.ts';

/** A comma list of states; blank means all. */
const StatesParameter = FilterParameter.transform((text) =>
  text === null ? [] : text.split(',').map((name) => name.trim()),
).pipe(z.array(z.enum(INSTANCE_STATES)));

const METADATA = 'metadata.';

/** Query of the lists of instances. `metadata.<key>=<value>` may occur with any key; all of them must hold. */
export const InstanceQuery = z
  .looseObject({
    tenant_id: FilterParameter,
    namespace: FilterParameter,
    sequence_id: UuidFilter,
    state: StatesParameter,
    offset: OffsetParameter,
    limit: limitParameter(100, 1000),
  })
  .transform((query, context) => {
    const metadata = Object.entries(query)
      .filter(([name]) => name.startsWith(METADATA))
      .map(([name, value]) => [name.slice(METADATA.length), TextParameter.parse(value)] as const);
    if (metadata.some(([key]) => key.includes('\u0000'))) {
      context.addIssue({ code: 'custom', message: 'a metadata key contains the character U+0000' });
    }
    const { tenant_id: tenantId, namespace, sequence_id: sequenceId, state, offset, limit } = query;
    const states: readonly InstanceState[] = state;
    return { tenantId, namespace, sequenceId, states, metadata, offset, limit };
  });
