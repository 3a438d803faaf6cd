import type { InstanceState } from '../../core/run/states.ts';
import type { InstanceOrder, ListInstancesQuery } from '../../ports/store/instance-lists.ts';
import type { SqlParam } from './driver.ts';
import type { ResolvedFilter } from './instance-lists.ts';

export interface ComposedStatement {
  readonly text: string;
  readonly params: readonly SqlParam[];
}

/** Adds a parameter and answers how the text names it. */
type Bind = (value: SqlParam, type: 'text' | 'bigint' | 'uuid' | 'jsonb') => string;

const COLUMN: Readonly<Record<InstanceOrder, string>> = { updated: 'updated_at', created: 'created_at' };

/** Without a tenant the tenants come from one index entry each. */
const ALL_TENANTS = `WITH RECURSIVE tenants (tenant_id) AS (
  SELECT min(m.tenant_id) FROM stepwell.task_instances m
  UNION ALL
  SELECT (
    SELECT f.tenant_id FROM stepwell.task_instances f
    WHERE f.tenant_id > t.tenant_id ORDER BY f.tenant_id LIMIT 1)
  FROM tenants t WHERE t.tenant_id IS NOT NULL
)
`;

/**
 * One page. Each range of an index is read from its newest end and no further than the page needs, and only what these ranges
 * give is sorted. The text is made for its filter: one that fits every filter would have one plan for all of them.
 */
export function listStatement(resolved: ResolvedFilter, query: ListInstancesQuery): ComposedStatement {
  const { params, bind } = createParams();
  const column = COLUMN[query.order ?? 'updated'];
  const limit = bind(query.limit, 'bigint');
  const offset = bind(query.offset, 'bigint');
  const everywhere = [...conditionsOf(resolved, bind), ...placeCondition(query, column, bind)];
  const newest = `ORDER BY n.${column} DESC, n.id DESC LIMIT ${limit} + ${offset}`;
  const ranges = rangesOf(resolved, query.order ?? 'updated', bind).map(({ from, conditions }) => {
    const where = [...conditions, ...everywhere].join(' AND ');
    const read = `SELECT n.id, n.${column} AS sort_at FROM stepwell.task_instances n WHERE ${where} ${newest}`;
    return from === null
      ? `(${read})`
      : `(SELECT n.id, n.sort_at FROM ${from} CROSS JOIN LATERAL (${read}) n)`;
  });
  const found = `(${ranges.join('\nUNION ALL\n')}) found`;
  const hasTenant = resolved.filter.tenantId !== null;
  return {
    params,
    text: `${hasTenant ? '' : ALL_TENANTS}SELECT stepwell.instance_view(i)
FROM (
  SELECT found.id, found.sort_at FROM ${hasTenant ? found : `tenants t CROSS JOIN LATERAL ${found}`}
  ORDER BY found.sort_at DESC, found.id DESC LIMIT ${limit} OFFSET ${offset}
) page
JOIN stepwell.task_instances i ON i.id = page.id
ORDER BY page.sort_at DESC, page.id DESC`,
  };
}

/** How many fit, by state, each counted no further than `countedTo`. */
export function countStatement(resolved: ResolvedFilter, countedTo: number): ComposedStatement {
  const { params, bind } = createParams();
  const everywhere = [...conditionsOf(resolved, bind), ...sequencesCondition(resolved, bind)];
  const limit = bind(countedTo, 'bigint');
  const hasTenant = resolved.filter.tenantId !== null;
  const counts = resolved.states.map((state) => {
    const where = [`n.state = '${state}'`, ...everywhere].join(' AND ');
    const rows = `SELECT 1 FROM stepwell.task_instances n WHERE ${where} LIMIT ${limit}`;
    const counted = hasTenant
      ? rows
      : `SELECT 1 FROM tenants t CROSS JOIN LATERAL (${rows}) r LIMIT ${limit}`;
    return `json_build_array('${state}', (SELECT count(*) FROM (${counted}) c))`;
  });
  return {
    params,
    text: `${hasTenant ? '' : ALL_TENANTS}SELECT json_build_array(\n${counts.join(',\n')})`,
  };
}

function createParams(): { readonly params: readonly SqlParam[]; readonly bind: Bind } {
  const params: SqlParam[] = [];
  return { params, bind: (value, type) => `$${params.push(value)}::${type}` };
}

interface Range {
  /** What the range is read for each row of; null: it is one. */
  readonly from: string | null;
  readonly conditions: readonly string[];
}

/** The ranges that an index has in the order of the list. */
function rangesOf(resolved: ResolvedFilter, order: InstanceOrder, bind: Bind): readonly Range[] {
  const { states, sequenceIds, ids } = resolved;
  const one = (...conditions: readonly string[]): Range => ({ from: null, conditions });
  if (ids !== null)
    return [
      one(
        `n.state IN (${states.map((state) => `'${state}'`).join(', ')})`,
        ...sequencesCondition(resolved, bind),
      ),
    ];
  if (order === 'created') {
    const ofSequences = sequencesCondition(resolved, bind);
    return states.map((state) => one(inState(state), ...ofSequences));
  }
  if (sequenceIds !== null) {
    const from = `unnest(${uuidArray(sequenceIds, bind)}) q(id)`;
    return states.map((state) => ({ from, conditions: ['n.sequence_id = q.id', inState(state)] }));
  }
  return states.flatMap((state) => [
    one(inState(state), 'n.parent_instance_id IS NULL'),
    ...(resolved.filter.rootOnly === true ? [] : [one(inState(state), 'n.parent_instance_id IS NOT NULL')]),
  ]);
}

/** The states are words of our own. */
function inState(state: InstanceState): string {
  return `n.state = '${state}'`;
}

function sequencesCondition({ sequenceIds }: ResolvedFilter, bind: Bind): readonly string[] {
  return sequenceIds === null ? [] : [`n.sequence_id = ANY (${uuidArray(sequenceIds, bind)})`];
}

function uuidArray(ids: readonly string[], bind: Bind): string {
  return `(${bind(`{${ids.join(',')}}`, 'text')})::uuid[]`;
}

function placeCondition({ after = null }: ListInstancesQuery, column: string, bind: Bind): readonly string[] {
  if (after === null) return [];
  return [`(n.${column}, n.id) < (stepwell.from_ms(${bind(after.at, 'bigint')}), ${bind(after.id, 'uuid')})`];
}

/** What holds in every range. */
function conditionsOf({ filter, metadata, ids }: ResolvedFilter, bind: Bind): readonly string[] {
  const { tenantId, namespace, idRange = null, createdAfter = null, createdBefore = null } = filter;
  const { idempotencyKey = null, concurrencyKey = null } = filter;
  const conditions = [`n.tenant_id = ${tenantId === null ? 't.tenant_id' : bind(tenantId, 'text')}`];
  if (namespace !== null) conditions.push(`n.namespace = ${bind(namespace, 'text')}`);
  if (filter.rootOnly === true) conditions.push('n.parent_instance_id IS NULL');
  if (ids !== null) conditions.push(`n.id = ANY (${uuidArray(ids, bind)})`);
  else if (metadata !== null) conditions.push(`n.metadata @> ${bind(metadata, 'jsonb')}`);
  if (idempotencyKey !== null) {
    // Both key spaces are named so that the unique index finds it.
    conditions.push(`n.dry_run IN (false, true) AND n.idempotency_key = ${bind(idempotencyKey, 'text')}`);
  }
  if (concurrencyKey !== null) conditions.push(`n.concurrency_key = ${bind(concurrencyKey, 'text')}`);
  if (idRange !== null) {
    conditions.push(`n.id BETWEEN ${bind(idRange.from, 'uuid')} AND ${bind(idRange.to, 'uuid')}`);
  }
  if (createdAfter !== null)
    conditions.push(`n.created_at > stepwell.from_ms(${bind(createdAfter, 'bigint')})`);
  if (createdBefore !== null)
    conditions.push(`n.created_at < stepwell.from_ms(${bind(createdBefore, 'bigint')})`);
  return conditions;
}
