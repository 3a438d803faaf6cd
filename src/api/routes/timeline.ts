import * as z from 'zod';
import { markerOf } from '../../core/run/output-row.ts';
import type { TimelineRow } from '../../ports/store/history.ts';
import type { AuditRow, InstanceView } from '../../ports/store/reads.ts';
import { notFound } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import {
  BooleanParameter,
  IdPath,
  InstanceStateName,
  JsonValue,
  rangeParameter,
  OffsetParameter,
  Timestamp,
  timestamp,
  Uuid,
} from '../schemas/wire-values.ts';
import { ContextBody, showContext } from '../schemas/instance.ts';

/** The newest transitions that are shown. */
const MAX_TRANSITIONS = 200;

export const TimelineBody = z.object({
  instance: z.object({
    id: Uuid,
    sequence_id: Uuid,
    state: InstanceStateName,
    created_at: Timestamp,
    updated_at: Timestamp,
    context: ContextBody.exactOptional(),
  }),
  state_transitions: z.array(z.object({ from_state: z.string(), to_state: z.string(), at: Timestamp })),
  entries: z.array(
    z.object({
      id: Uuid,
      block_id: z.string(),
      attempt: z.int(),
      iteration: z.string(),
      completed_at: Timestamp,
      output_size: z.int(),
      output: JsonValue.exactOptional(),
      output_ref: z.string().nullable(),
      is_sentinel: z.boolean(),
      /** Of the runs of this instance, from 1: a retry and a resume-from begin another one. */
      run_no: z.int(),
      /** A later run has begun this block anew: the lists of outputs leave the row out. */
      is_superseded: z.boolean(),
    }),
  ),
  offset: z.int(),
  limit: z.int(),
  has_more: z.boolean(),
});
type TimelineBody = z.infer<typeof TimelineBody>;

const TimelineQuery = z.object({
  offset: OffsetParameter,
  limit: rangeParameter(200, 1, 1000),
  include_outputs: BooleanParameter.default(true),
});
type TimelineFilter = z.output<typeof TimelineQuery>;

/** What happened in all runs, in order (http-api.md 5.5); rows of failed tries are included and flagged. */
export const timelineRoute = defineRoute({
  method: 'GET',
  path: '/instances/{id}/timeline',
  tag: 'instances',
  summary: 'State changes and block outputs in order',
  params: IdPath,
  query: TimelineQuery,
  responses: { 200: TimelineBody },
  handle: async ({ store }, { caller, path, filter }) => {
    const [view, rows, audit] = await Promise.all([
      store.getInstance(caller.tenantId, path.id),
      store.listTimeline(caller.tenantId, path.id, { offset: filter.offset, limit: filter.limit + 1 }),
      store.listAudit(caller.tenantId, path.id, MAX_TRANSITIONS),
    ]);
    if (view === null || rows === null || audit === null) return notFound('instance', path.id);
    return okay(showTimeline(view, rows, audit, filter));
  },
});

function showTimeline(
  view: InstanceView,
  rows: readonly TimelineRow[],
  audit: readonly AuditRow[],
  { offset, limit, include_outputs: withOutputs }: TimelineFilter,
): TimelineBody {
  return {
    instance: {
      id: view.id,
      sequence_id: view.sequenceId,
      state: view.state,
      created_at: timestamp(view.createdAt),
      updated_at: timestamp(view.updatedAt),
      ...(withOutputs ? { context: showContext(view) } : {}),
    },
    state_transitions: audit
      .filter((row) => row.eventType === 'state_transition')
      .map((row) => ({
        // Both are there: each is a change from one state to another.
        from_state: row.fromState ?? '',
        to_state: row.toState ?? '',
        at: timestamp(row.createdAt),
      }))
      .reverse(),
    entries: rows.slice(0, limit).map((row) => ({
      id: row.id,
      block_id: row.blockId,
      attempt: row.attempt,
      iteration: row.iteration,
      completed_at: timestamp(row.createdAt),
      ...(withOutputs ? { output: row.output } : {}),
      output_size: row.outputSize,
      output_ref: markerOf(row.kind),
      is_sentinel: markerOf(row.kind) !== null,
      run_no: row.runNo,
      is_superseded: row.supersededBy !== null,
    })),
    offset,
    limit,
    has_more: rows.length > limit,
  };
}
