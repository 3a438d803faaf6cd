import * as z from 'zod';
import { notFound } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import { JournalList, showJournal } from '../schemas/output.ts';
import { limitParameter, IdPath } from '../schemas/wire-values.ts';

const MAX_ENTRIES = 200;

/** What the audit log does not count: signals and what came of them, retries, patches, breaches ([AUD-2], [SIG-9]). */
export const journalRoute = defineRoute({
  method: 'GET',
  path: '/instances/{id}/journal',
  tag: 'instances',
  summary: 'What happened beside the changes of state, newest first',
  params: IdPath,
  query: z.object({
    limit: limitParameter(MAX_ENTRIES, MAX_ENTRIES),
  }),
  responses: { 200: JournalList },
  handle: async ({ store }, { caller, path, filter }) => {
    const rows = await store.listJournal(caller.tenantId, path.id, filter.limit);
    return rows === null ? notFound('instance', path.id) : okay(rows.map(showJournal));
  },
});
