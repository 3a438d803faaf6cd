import * as z from 'zod';
import { INSTANCE_STATES, type InstanceState } from '../../core/run/states.ts';
import { FilterParameter, limitParameter, OffsetParameter, UuidFilter } from './wire-values.ts';

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
  .transform(
    ({ tenant_id: tenantId, namespace, sequence_id: sequenceId, state, offset, limit, ...others }) => {
      const metadata = Object.entries(others)
        .filter(([name]) => name.startsWith(METADATA))
        .map(([name, value]) => [name.slice(METADATA.length), String(value)] as const);
      const states: readonly InstanceState[] = state;
      return { tenantId, namespace, sequenceId, states, metadata, offset, limit };
    },
  );
