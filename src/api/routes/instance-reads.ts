import * as z from 'zod';
import { explainInstance } from '../../engine/explain-instance.ts';
import { readEarlierTree } from '../../engine/read-earlier-tree.ts';
import { readTree } from '../../engine/read-tree.ts';
import { notFound } from '../../engine/refusal.ts';
import type { Answer } from '../reply.ts';
import { defineRoute, okay } from '../route.ts';
import {
  CountParameter,
  FilterParameter,
  IdPath,
  limitParameter,
  NoParameters,
  PageQuery,
} from '../schemas/wire-values.ts';
import { ExplanationBody, showExplanation } from '../schemas/explanation.ts';
import { InstanceList, showInstance } from '../schemas/instance.ts';
import { AuditList, LogList, showAudit, showLog } from '../schemas/output.ts';
import { showNode, TreeBody } from '../schemas/tree.ts';
import { outputRoutes } from './outputs.ts';
import { journalRoute } from './journal.ts';
import { timelineRoute } from './timeline.ts';

const tag = 'instances';
const parts = { method: 'GET', tag, params: IdPath, query: NoParameters } as const;

/** Most audit entries and log lines of one answer. */
const MAX_AUDIT = 200;
const MAX_LOG_LINES = 1000;

const tree = defineRoute({
  ...parts,
  path: '/instances/{id}/tree',
  summary:
    'The execution tree in document order; empty before the first claim. iteration=each:17 shows that item, run_no=1 an earlier run',
  query: z.object({ iteration: FilterParameter, run_no: CountParameter.optional() }),
  responses: { 200: TreeBody },
  handle: async (deps, { caller, path, filter }) => {
    if (filter.run_no !== undefined) {
      const earlier = await readEarlierTree(deps, caller, path.id, filter.run_no);
      return earlier.ok ? okay(earlier.value.map((node) => showNode(path.id, node))) : earlier;
    }
    const nodes = await readTree(deps, caller.tenantId, path.id, filter.iteration);
    return found(path.id, nodes, (node) => showNode(path.id, node));
  },
});

const children = defineRoute({
  ...parts,
  path: '/instances/{id}/children',
  summary: 'Instances started by sub_sequence blocks of this one, oldest first',
  query: PageQuery,
  responses: { 200: InstanceList },
  handle: async ({ store }, { caller, path, filter }) =>
    found(path.id, await store.listChildren(caller.tenantId, path.id, filter), showInstance),
});

const logs = defineRoute({
  ...parts,
  path: '/instances/{id}/logs',
  summary: 'Log lines of the steps, oldest first',
  query: z.object({ limit: limitParameter(MAX_LOG_LINES, MAX_LOG_LINES) }),
  responses: { 200: LogList },
  handle: async ({ store }, { caller, path, filter }) =>
    found(path.id, await store.listLogs(caller.tenantId, path.id, filter.limit), showLog),
});

const audit = defineRoute({
  ...parts,
  path: '/instances/{id}/audit',
  summary: 'Changes of the state, newest first',
  query: z.object({ limit: limitParameter(MAX_AUDIT, MAX_AUDIT) }),
  responses: { 200: AuditList },
  handle: async ({ store }, { caller, path, filter }) =>
    found(path.id, await store.listAudit(caller.tenantId, path.id, filter.limit), showAudit),
});

const explain = defineRoute({
  ...parts,
  path: '/instances/{id}/explain',
  summary: 'What the instance waits for, since when, and what happens next',
  responses: { 200: ExplanationBody },
  handle: async (deps, { caller, path }) => {
    const explained = await explainInstance(deps, caller, path.id);
    return explained.ok ? okay(showExplanation(explained.value)) : explained;
  },
});

export const instanceReadRoutes = [
  tree,
  ...outputRoutes,
  children,
  logs,
  audit,
  journalRoute,
  timelineRoute,
  explain,
];

/** The list, or 404 when the store does not know the instance in this tenant. */
function found<Row>(id: string, rows: readonly Row[] | null, show: (row: Row) => unknown): Answer {
  return rows === null ? notFound('instance', id) : okay(rows.map(show));
}
