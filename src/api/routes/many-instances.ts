import { actOnMany, rescheduleMany, setManyStates } from '../../engine/many-instances.ts';
import { refuse } from '../../engine/refusal.ts';
import { defineBodyRoute, okay } from '../route.ts';
import {
  BatchActionBody,
  BatchActionDone,
  BulkCount,
  BulkRescheduleBody,
  BulkStateBody,
} from '../schemas/many-instances.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'many instances';

const bulkState = defineBodyRoute({
  method: 'PATCH',
  path: '/instances/bulk/state',
  tag,
  summary: 'Set the state of all instances that fit a filter',
  params: NoParameters,
  query: NoParameters,
  body: BulkStateBody,
  responses: { 200: BulkCount },
  handle: async (deps, { caller, body }) => {
    const count = await setManyStates(deps, caller, body.filter, body.state);
    return count.ok ? okay({ count: count.value }) : count;
  },
});

const bulkReschedule = defineBodyRoute({
  method: 'PATCH',
  path: '/instances/bulk/reschedule',
  tag,
  summary: 'Move the time of all scheduled instances that fit a filter',
  params: NoParameters,
  query: NoParameters,
  body: BulkRescheduleBody,
  responses: { 200: BulkCount },
  handle: async (deps, { caller, body }) => {
    const count = await rescheduleMany(deps, caller, body.filter, body.offset_secs * 1000);
    return count.ok ? okay({ count: count.value }) : count;
  },
});

const batchAction = defineBodyRoute({
  method: 'POST',
  path: '/instances/batch-action',
  tag,
  summary: 'Retry, pause, resume, cancel or signal many instances',
  params: NoParameters,
  query: NoParameters,
  body: BatchActionBody,
  responses: { 200: BatchActionDone },
  handle: async (deps, { caller, body }) => {
    const { signalName, ...input } = body;
    if (input.name === 'signal' && (signalName ?? '').trim() === '')
      return refuse('invalid_argument', 'signal_type is required for the action signal');
    const done = await actOnMany(deps, caller, input);
    return done.ok ? okay({ ...done.value, dry_run: input.dryRun }) : done;
  },
});

export const manyInstancesRoutes = [bulkState, bulkReschedule, batchAction];
