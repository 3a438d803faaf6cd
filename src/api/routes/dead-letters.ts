import { listDeadLetters } from '../../engine/dead-letters/failed-runs.ts';
import { listDeadLetterGroups } from '../../engine/dead-letters/groups.ts';
import { retryGroup } from '../../engine/dead-letters/retry-group.ts';
import { defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  DeadLetterGroupQuery,
  DeadLetterGroups,
  DeadLetterList,
  FingerprintPath,
  GroupRetriedBody,
  GroupRetryBody,
  GroupRetryQuery,
  showDeadLetter,
  showGroup,
} from '../schemas/dead-letter.ts';
import { InstanceArrayQuery } from '../schemas/instance-query.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'dead letters';

const list = defineRoute({
  method: 'GET',
  path: '/instances/dlq',
  tag,
  summary: 'List failed instances, newest change first',
  params: NoParameters,
  query: InstanceArrayQuery,
  responses: { 200: DeadLetterList },
  handle: async (deps, { caller, filter }) => {
    const letters = await listDeadLetters(deps, { ...filter, tenantId: caller.tenantId ?? filter.tenantId });
    return okay(letters.map(showDeadLetter));
  },
});

const groups = defineRoute({
  method: 'GET',
  path: '/instances/dlq/groups',
  tag,
  summary: 'Failed instances by what they failed of, the largest group first',
  params: NoParameters,
  query: DeadLetterGroupQuery,
  responses: { 200: DeadLetterGroups },
  handle: async (deps, { caller, filter }) => {
    const tenantId = caller.tenantId ?? filter.tenant_id;
    return okay(
      (await listDeadLetterGroups(deps, { tenantId, sequenceId: filter.sequence_id })).map(showGroup),
    );
  },
});

const retry = defineBodyRoute({
  method: 'POST',
  path: '/instances/dlq/groups/{fingerprint}/retry',
  tag,
  summary: 'Retry one sample of a group, or all of it',
  params: FingerprintPath,
  query: GroupRetryQuery,
  body: GroupRetryBody,
  responses: { 200: GroupRetriedBody },
  handle: async (deps, { caller, path, filter, body }) => {
    const { fingerprint } = path;
    const { mode, force, limit, sample_verified_instance_id: sampleId } = body;
    const tenantId = caller.tenantId ?? filter.tenant_id;
    const done = await retryGroup(deps, caller, tenantId, { fingerprint, mode, sampleId, force, limit });
    return done.ok ? okay({ fingerprint, mode, ...done.value }) : done;
  },
});

export const deadLetterRoutes = [list, groups, retry];
