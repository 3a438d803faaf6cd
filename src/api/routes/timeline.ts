import * as z from 'zod';
import { markerOf, type OutputRow } from '../../core/run/output-row.ts';
import type { AuditRow, InstanceView } from '../../ports/store/reads.ts';
import { notFound } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import {
  BooleanParameter,
  CountParameter,
  IdPath,
  InstanceStateName,
  JsonValue,
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
  state_transitions: z.array(
    z.object({ from_state: z.string().nullable(), to_state: z.string().nullable(), at: Timestamp }),
  ),
  entries: z.array(
    z.object({
      block_id: z.string(),
      attempt: z.int(),
      completed_at: Timestamp,
      output: JsonValue.exactOptional(),
      output_ref: z.string().nullable(),
      is_sentinel: z.boolean(),
    }),
  ),
  offset: z.int(),
  limit: z.int(),
  has_more: z.boolean(),
});
type TimelineBody = z.infer<typeof TimelineBody>;

const TimelineQuery = z.object({
  offset: OffsetParameter,
  limit: CountParameter.transform((value) => Math.min(Math.max(value, 1), 1000)).default(200),
  include_outputs: BooleanParameter.default(true),
});
type TimelineFilter = z.output<typeof TimelineQuery>;

/** What happened, in order (http-api.md 5.5); rows of failed tries are included and flagged. */
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
      store.listOutputs(caller.tenantId, path.id, { node: false, retry: true }),
      store.listAudit(caller.tenantId, path.id, MAX_TRANSITIONS),
    ]);
    if (view === null || rows === null || audit === null) return notFound('instance', path.id);
    return okay(showTimeline(view, rows, audit, filter));
  },
});

function showTimeline(
  view: InstanceView,
  rows: readonly OutputRow[],
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
      .map((row) => ({ from_state: row.fromState, to_state: row.toState, at: timestamp(row.createdAt) }))
      .reverse(),
    entries: rows.slice(offset, offset + limit).map((row) => ({
      block_id: row.blockId,
      attempt: row.attempt,
      completed_at: timestamp(row.createdAt),
      ...(withOutputs ? { output: row.output } : {}),
      output_ref: markerOf(row.kind),
      is_sentinel: markerOf(row.kind) !== null,
    })),
    offset,
    limit,
    has_more: rows.length > offset + limit,
  };
}
