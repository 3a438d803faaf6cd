import { countStatement, listStatement } from '../../src/adapters/postgres/instance-list-sql.ts';
import { INSTANCE_STATES } from '../../src/core/run/states.ts';
import type { ListInstancesQuery } from '../../src/ports/store/instance-lists.ts';
import type { Session } from './sessions.ts';

/** What a plan has really done: rows that its sorts were given, and the tables it read from end to end. */
export interface PlanFacts {
  readonly sorted: number;
  readonly scannedWhole: readonly string[];
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/** The plan of a list, or of its count, as the role and with the tenant that the API uses. */
export async function planOfList(
  session: Session,
  query: ListInstancesQuery,
  kind: 'list' | 'count' = 'list',
): Promise<PlanFacts> {
  const states = query.states.length === 0 ? INSTANCE_STATES : query.states;
  const sequenceIds = query.sequenceId === null ? null : [query.sequenceId];
  const resolved = { filter: query, states, sequenceIds, metadata: null, ids: null };
  const { text, params } =
    kind === 'list' ? listStatement(resolved, query) : countStatement(resolved, 10_000);
  await session.begin();
  const { tenantId } = query;
  await session.rows(
    "SELECT set_config('role', $1, true), set_config('stepwell.tenant', $2, true), set_config('enable_seqscan', 'off', true)",
    [tenantId === null ? 'stepwell_engine' : 'stepwell_app', tenantId ?? ''],
  );
  const [row] = await session.rows(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, params);
  await session.rollback();
  const [explained] = JSON.parse(JSON.stringify(row?.['QUERY PLAN']));
  return factsOf(explained.Plan);
}

function factsOf(node: PlanNode): PlanFacts {
  const parts = node.Plans ?? [];
  const below = parts.map(factsOf);
  const given = parts.reduce((sum, part) => sum + part['Actual Rows'] * part['Actual Loops'], 0);
  const isSort = node['Node Type'].includes('Sort');
  const isScan = node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0;
  return {
    sorted: Math.max(isSort ? given : 0, ...below.map(({ sorted }) => sorted)),
    scannedWhole: [
      ...(isScan ? [node['Relation Name'] ?? ''] : []),
      ...below.flatMap(({ scannedWhole }) => scannedWhole),
    ],
  };
}
