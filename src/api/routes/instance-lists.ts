import type * as z from 'zod';
import { compareCodePoints } from '../../core/json.ts';
import { INSTANCE_STATES } from '../../core/run/states.ts';
import { readWaits } from '../../engine/read-waits.ts';
import { refuse } from '../../engine/refusal.ts';
import type { InstanceOrder, InstancePlace } from '../../ports/store/instance-lists.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import { pageBytes } from '../answer-limit.ts';
import { readCursor, writeCursor, type CursorScope } from '../cursor.ts';
import { defineRoute, okay } from '../route.ts';
import { InstancePage, InstanceSummaryBody, showInstance, showWaitsFor } from '../schemas/instance.ts';
import { InstanceFilterQuery, InstanceQuery } from '../schemas/instance-query.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'instances';
const LIST = '/instances';

/** Instances of one state are counted up to this number (dashboard.md A4). */
const COUNTED_TO = 10_000;

const list = defineRoute({
  method: 'GET',
  path: LIST,
  tag,
  summary:
    'List instances, newest change or creation first; next_cursor leads to the next page. A page of large instances has fewer than `limit`',
  params: NoParameters,
  query: InstanceQuery,
  responses: { 200: InstancePage },
  handle: async (deps, { caller, filter: query }) => {
    const { store, settings } = deps;
    const { order, page } = query;
    const filter = { ...query.filter, tenantId: caller.tenantId ?? query.filter.tenantId };
    const scope = scopeOf(filter, order);
    const after = query.cursor === null ? null : readCursor(settings.apiKey, scope, query.cursor);
    if (query.cursor !== null && after === null) {
      return refuse('invalid_argument', 'the cursor belongs to another list or was changed', {
        code: 'invalid_cursor',
      });
    }
    const { items, hasMore } = await store.pageInstances(
      { ...filter, order, after, ...page },
      pageBytes(settings.answerLimit),
    );
    const last = hasMore ? items.at(-1) : undefined;
    const waits = await readWaits(deps, filter.tenantId, items);
    return okay({
      items: items.map((view) => ({
        ...showInstance(view),
        waits_for: showWaitsFor(waits.get(view.id) ?? null),
      })),
      has_more: hasMore,
      ...(last === undefined
        ? {}
        : { next_cursor: writeCursor(settings.apiKey, scope, placeOf(last, order)) }),
    });
  },
});

function placeOf(view: InstanceView, order: InstanceOrder): InstancePlace {
  return { at: order === 'created' ? view.createdAt : view.updatedAt, id: view.id };
}

/** What a cursor is bound to. The order in which a filter was written does not matter. */
function scopeOf(filter: z.output<typeof InstanceFilterQuery>, order: InstanceOrder): CursorScope {
  const states = filter.states.toSorted();
  const metadata = filter.metadata.toSorted(
    ([a, x], [b, y]) => compareCodePoints(a, b) || compareCodePoints(x, y),
  );
  return { endpoint: LIST, tenantId: filter.tenantId, list: { ...filter, states, metadata, order } };
}

const summary = defineRoute({
  method: 'GET',
  path: '/instances/summary',
  tag,
  summary: 'How many instances there are in each state, each counted to 10,000',
  params: NoParameters,
  query: InstanceFilterQuery,
  responses: { 200: InstanceSummaryBody },
  handle: async ({ store }, { caller, filter }) => {
    const tenantId = caller.tenantId ?? filter.tenantId;
    const counts = await store.countInstances({ ...filter, tenantId }, COUNTED_TO);
    const capped = INSTANCE_STATES.filter((state) => counts[state] >= COUNTED_TO);
    return okay({ counts, counted_to: COUNTED_TO, capped });
  },
});

export const instanceListRoutes = [list, summary];
