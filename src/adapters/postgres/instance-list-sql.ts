import type { InstanceState } from '../../core/run/states.ts';
import type { InstanceOrder, ListInstancesQuery } from '../../ports/store/instance-lists.ts';
import type { SqlParam } from './driver.ts';
import {
  type Bind,
  createParams,
  filterConditions,
  isNarrow,
  namesTenant,
  type Range,
  rangesOf,
  type ResolvedFilter,
  tenantCondition,
} from './instance-list-conditions.ts';

export interface ComposedStatement {
  readonly text: string;
  readonly params: readonly SqlParam[];
}

const COLUMN: Readonly<Record<InstanceOrder, string>> = { updated: 'updated_at', created: 'created_at' };

/** So many rows of a narrow range are sorted; where there are more, the walk in the order of the list meets them soon enough. */
const SORTED_MAX = 5_000;

/** The first tenant behind another one, from one entry of an index. */
const nextTenant = (behind: string, ofWhom: 'IS NULL' | 'IS NOT NULL'): string =>
  `(SELECT f.tenant_id FROM stepwell.task_instances f
    WHERE ${behind}f.parent_instance_id ${ofWhom} ORDER BY f.tenant_id LIMIT 1)`;
const next = (behind: string): string =>
  `least(${nextTenant(behind, 'IS NULL')}, ${nextTenant(behind, 'IS NOT NULL')})`;

/** Without a tenant the tenants come from two index entries each. */
const ALL_TENANTS = `WITH RECURSIVE tenants (tenant_id) AS (
  SELECT ${next('')}
  UNION ALL
  SELECT ${next('f.tenant_id > t.tenant_id AND ')} FROM tenants t WHERE t.tenant_id IS NOT NULL
)
`;

/** The instances of one page, in their order. What they are made of is read after they were chosen and sorted. */
export function listStatement(resolved: ResolvedFilter, query: ListInstancesQuery): ComposedStatement {
  const { params, bind } = createParams();
  const { tenants, ids } = chosenIds(resolved, query, bind);
  return {
    params,
    text: `${tenants}SELECT (SELECT stepwell.instance_view(i) FROM stepwell.task_instances i WHERE i.id = page.id)
FROM (${ids}) page
ORDER BY page.sort_at DESC, page.id DESC`,
  };
}

/** As `listStatement`, cut at a number of bytes. Each row says how many were found, one more than are asked for at most. */
export function pageStatement(
  resolved: ResolvedFilter,
  query: ListInstancesQuery,
  maxBytes: number,
): ComposedStatement {
  const { params, bind } = createParams();
  const { tenants, ids } = chosenIds(resolved, { ...query, limit: query.limit + 1 }, bind);
  const shown = `p.ids[1:${bind(query.limit, 'integer')}]`;
  return {
    params,
    text: `${tenants}SELECT to_json(coalesce(cardinality(p.ids), 0)), v.view
FROM (SELECT array_agg(page.id ORDER BY page.sort_at DESC, page.id DESC) AS ids FROM (${ids}) page) p
LEFT JOIN LATERAL stepwell.instance_views(${shown}, ${bind(maxBytes, 'bigint')}) AS v(view) ON true`,
  };
}

/**
 * The ids of a page. Each range of an index is read from its newest end and no further than the page needs, and only what these
 * ranges give is sorted. The text is made for its filter: one that fits every filter would have one plan for all of them.
 */
function chosenIds(
  resolved: ResolvedFilter,
  query: ListInstancesQuery,
  bind: Bind,
): { readonly tenants: string; readonly ids: string } {
  const order = query.order ?? 'updated';
  const page: PageParts = {
    resolved,
    order,
    bind,
    conditions: [...filterConditions(resolved, bind), ...placeCondition(query, COLUMN[order], bind)],
    rest: `LIMIT ${bind(query.limit, 'bigint')} + ${bind(query.offset, 'bigint')}`,
  };
  const found = `(${resolved.ids === null ? walk(page) : lookUp(page)}) found`;
  const hasTenant = namesTenant(resolved);
  return {
    tenants: hasTenant ? '' : ALL_TENANTS,
    ids: `
  SELECT found.id, found.sort_at FROM ${hasTenant ? found : `tenants t CROSS JOIN LATERAL ${found}`}
  ORDER BY found.sort_at DESC, found.id DESC
  LIMIT ${bind(query.limit, 'bigint')} OFFSET ${bind(query.offset, 'bigint')}
`,
  };
}

interface PageParts {
  readonly resolved: ResolvedFilter;
  readonly order: InstanceOrder;
  readonly bind: Bind;
  readonly conditions: readonly string[];
  readonly rest: string;
}

/** The ids are few and known. */
function lookUp({ resolved, order, bind, conditions, rest }: PageParts): string {
  const states = resolved.states.map((state) => `'${state}'`).join(', ');
  const all = [...tenantCondition(resolved, bind), `n.state IN (${states})`, ...conditions];
  return rowsOf({ from: null, conditions: all }, order, rest);
}

/**
 * The ranges of all states, one behind the other. A filter may have an index of its own in another order than the list: then
 * its range is counted first, and sorted when it is small. Where it is empty the walk would find nothing to its very end.
 */
function walk(page: PageParts): string {
  const { resolved, order, bind, conditions, rest } = page;
  const other = order === 'updated' ? 'created' : 'updated';
  if (!isNarrow(resolved, other)) {
    return resolved.states
      .flatMap((state) => rangesOf(resolved, state, order, bind))
      .map((range) => `(${rowsOf(withMore(range, conditions), order, rest)})`)
      .join('\nUNION ALL\n');
  }
  const small = resolved.states.map((state) => smallRange(page, state, other));
  const branches = resolved.states.flatMap((state) => {
    const count = `(SELECT count(*) FROM small_${state})`;
    const listed = `n.id = ANY (ARRAY(SELECT s.id FROM small_${state} s))`;
    const sorted = [listed, `${count} <= ${SORTED_MAX}`, ...conditions];
    const walked = rangesOf(resolved, state, order, bind);
    return [
      rowsOf({ from: null, conditions: sorted }, order, rest),
      ...walked.map((range) =>
        rowsOf(withMore(range, [...conditions, `${count} > ${SORTED_MAX}`]), order, rest),
      ),
    ];
  });
  return `WITH ${small.join(',\n')}\n${branches.map((branch) => `(${branch})`).join('\nUNION ALL\n')}`;
}

/** The ids of a narrow range, one more than are sorted. Its own order makes the planner take its index. */
function smallRange({ resolved, bind }: PageParts, state: InstanceState, order: InstanceOrder): string {
  const limit = `LIMIT ${SORTED_MAX + 1}`;
  const ranges = rangesOf(resolved, state, order, bind).map((range) => `(${rowsOf(range, order, limit)})`);
  return `small_${state} AS MATERIALIZED (SELECT r.id FROM (${ranges.join('\nUNION ALL\n')}) r ${limit})`;
}

/** How many fit, by state, each counted no further than `countedTo`. */
export function countStatement(resolved: ResolvedFilter, countedTo: number): ComposedStatement {
  const { params, bind } = createParams();
  const conditions = filterConditions(resolved, bind);
  const order = isNarrow(resolved, 'created') ? 'created' : 'updated';
  // The order is of no use but to make the planner take the index of a narrow filter.
  const isOrdered = isNarrow(resolved, order);
  const rest = `LIMIT ${bind(countedTo, 'bigint')}`;
  const hasTenant = namesTenant(resolved);
  const counts = resolved.states.map((state) => {
    const ranges = rangesOf(resolved, state, order, bind).map(
      (range) => `(${rowsOf(withMore(range, conditions), isOrdered ? order : null, rest)})`,
    );
    const rows = `(${ranges.join(' UNION ALL ')}) r`;
    const from = hasTenant ? rows : `tenants t CROSS JOIN LATERAL ${rows}`;
    return `json_build_array('${state}', (SELECT count(*) FROM (SELECT 1 FROM ${from} ${rest}) c))`;
  });
  return {
    params,
    text: `${hasTenant ? '' : ALL_TENANTS}SELECT json_build_array(\n${counts.join(',\n')})`,
  };
}

function withMore({ from, conditions }: Range, more: readonly string[]): Range {
  return { from, conditions: [...conditions, ...more] };
}

/** The rows of a range, `rest` bounds how many; order null: any of them. */
function rowsOf({ from, conditions }: Range, order: InstanceOrder | null, rest: string): string {
  const column = COLUMN[order ?? 'updated'];
  const ordered = order === null ? '' : `ORDER BY n.${column} DESC, n.id DESC`;
  const read = `SELECT n.id, n.${column} AS sort_at FROM stepwell.task_instances n
  WHERE ${conditions.join(' AND ')} ${ordered} ${rest}`;
  return from === null ? read : `SELECT n.id, n.sort_at FROM ${from} CROSS JOIN LATERAL (${read}) n`;
}

function placeCondition({ after = null }: ListInstancesQuery, column: string, bind: Bind): readonly string[] {
  if (after === null) return [];
  return [`(n.${column}, n.id) < (stepwell.from_ms(${bind(after.at, 'bigint')}), ${bind(after.id, 'uuid')})`];
}
