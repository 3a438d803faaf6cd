import { ok, type Result } from '../../core/result.ts';
import { refuse, type Refusal } from '../../engine/refusal.ts';
import { followChanges } from '../../engine/streams/change-stream.ts';
import type { ServerEvent } from '../../engine/streams/server-event.ts';
import type { Caller } from '../../engine/use-case.ts';
import type { ChangeCursor } from '../../ports/store/changes.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import { defineRoute, okay } from '../route.ts';
import { ChangesBody, ChangesQuery, ChangeStreamQuery, cursorText, readCursor } from '../schemas/change.ts';
import { showAudit } from '../schemas/output.ts';
import { NoParameters } from '../schemas/wire-values.ts';
import { streamAnswer } from '../streams.ts';

const tag = 'changes';

const list = defineRoute({
  method: 'GET',
  path: '/changes',
  tag,
  summary: 'Changes of state of all instances of a tenant, oldest first, behind a cursor',
  params: NoParameters,
  query: ChangesQuery,
  responses: { 200: ChangesBody },
  handle: async ({ store }, { caller, filter }) => {
    const place = placeOf(caller, filter.tenant_id, filter.cursor);
    if (!place.ok) return place;
    const rows = await store.listChanges({ ...place.value, limit: filter.limit + 1 });
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1);
    return okay({
      changes: page.map(showAudit),
      ...(last === undefined ? {} : { next_cursor: cursorText(last) }),
      has_more: rows.length > page.length,
    });
  },
});

const stream = defineRoute({
  method: 'GET',
  path: '/changes/stream',
  tag,
  summary: 'The same as server-sent events, going on with new ones',
  params: NoParameters,
  query: ChangeStreamQuery,
  responses: { 200: null },
  media: 'text/event-stream',
  handle: (deps, { caller, filter, header }) => {
    const from = filter.cursor ?? header('last-event-id') ?? null;
    const place = placeOf(caller, filter.tenant_id, from);
    if (!place.ok) return place;
    const { tenantId, after } = place.value;
    return streamAnswer(deps, { tenantId }, 'rate_limited', (follower) =>
      changeEvents(followChanges(deps.store, follower, tenantId, after)),
    );
  },
});

async function* changeEvents(rows: AsyncGenerator<AuditRow>): AsyncGenerator<ServerEvent> {
  for await (const row of rows) yield { event: 'change', id: cursorText(row), data: showAudit(row) };
}

function placeOf(
  caller: Caller,
  asked: string | null,
  cursor: string | null,
): Result<{ readonly tenantId: string; readonly after: ChangeCursor | null }, Refusal> {
  const tenantId = caller.tenantId ?? asked;
  if (tenantId === null) return refuse('invalid_argument', 'tenant scope is required');
  if (cursor === null) return ok({ tenantId, after: null });
  const after = readCursor(cursor);
  return after === null ? refuse('invalid_argument', 'malformed change cursor') : ok({ tenantId, after });
}

export const changeRoutes = [list, stream];
