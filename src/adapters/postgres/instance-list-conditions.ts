import type { InstanceState } from '../../core/run/states.ts';
import type { InstanceListFilter, InstanceOrder } from '../../ports/store/instance-lists.ts';
import type { SqlParam } from './driver.ts';

/** A filter whose names have become ids. */
export interface ResolvedFilter {
  readonly filter: InstanceListFilter;
  readonly states: readonly InstanceState[];
  /** null: of any sequence. */
  readonly sequenceIds: readonly string[] | null;
  /** JSON text of what metadata must contain; null: anything. */
  readonly metadata: string | null;
  /** The instances that have it; null: too many to look up, or no such filter. */
  readonly ids: readonly string[] | null;
}

/** Adds a parameter and answers how the text names it. */
export type Bind = (value: SqlParam, type: 'text' | 'integer' | 'bigint' | 'uuid' | 'jsonb') => string;

export function createParams(): { readonly params: readonly SqlParam[]; readonly bind: Bind } {
  const params: SqlParam[] = [];
  return { params, bind: (value, type) => `$${params.push(value)}::${type}` };
}

/** A range of an index, as conditions on the instance `n`. */
export interface Range {
  /** What there is one such range for each row of; null: there is one. */
  readonly from: string | null;
  readonly conditions: readonly string[];
}

/** True when the index of this order begins with more of the filter than tenant and state. */
export function isNarrow({ filter, sequenceIds }: ResolvedFilter, order: InstanceOrder): boolean {
  const hasOwnIndex = sequenceIds !== null || (filter.concurrencyKey ?? null) !== null;
  if (order === 'updated') return hasOwnIndex;
  return !hasOwnIndex && ((filter.createdAfter ?? null) !== null || (filter.createdBefore ?? null) !== null);
}

/** The ranges of one state in the index of an order. A sequence and a key have indexes in the order of the last change. */
export function rangesOf(
  resolved: ResolvedFilter,
  state: InstanceState,
  order: InstanceOrder,
  bind: Bind,
): readonly Range[] {
  const { filter, sequenceIds } = resolved;
  // The states are words of our own.
  const base = [...tenantCondition(resolved, bind), `n.state = '${state}'`];
  if (order === 'updated' && sequenceIds !== null) {
    const from = `unnest(${uuidArray(sequenceIds, bind)}) q(id)`;
    return [{ from, conditions: [...base, 'n.sequence_id = q.id'] }];
  }
  if (order === 'updated' && isNarrow(resolved, order)) {
    return [{ from: null, conditions: [...base, ...keyCondition(filter, bind)] }];
  }
  const all = [...base, ...(order === 'created' ? windowConditions(filter, bind) : [])];
  const roots = { from: null, conditions: [...all, 'n.parent_instance_id IS NULL'] };
  const children = { from: null, conditions: [...all, 'n.parent_instance_id IS NOT NULL'] };
  return filter.rootOnly === true ? [roots] : [roots, children];
}

/** Instances of a sequence are its tenant's, so that without a tenant nobody has to look for it. */
export function namesTenant({ filter, sequenceIds }: ResolvedFilter): boolean {
  return filter.tenantId !== null || sequenceIds !== null;
}

/** null stands for the tenants `t`. */
export function tenantCondition(resolved: ResolvedFilter, bind: Bind): readonly string[] {
  const { tenantId } = resolved.filter;
  if (tenantId !== null) return [`n.tenant_id = ${bind(tenantId, 'text')}`];
  return namesTenant(resolved) ? [] : ['n.tenant_id = t.tenant_id'];
}

/** All of the filter but tenant and states. */
export function filterConditions(resolved: ResolvedFilter, bind: Bind): readonly string[] {
  const { filter, sequenceIds, metadata, ids } = resolved;
  const { namespace, idempotencyKey = null, idRange = null } = filter;
  const conditions: string[] = [...keyCondition(filter, bind), ...windowConditions(filter, bind)];
  if (sequenceIds !== null) conditions.push(`n.sequence_id = ANY (${uuidArray(sequenceIds, bind)})`);
  if (namespace !== null) conditions.push(`n.namespace = ${bind(namespace, 'text')}`);
  if (filter.rootOnly === true) conditions.push('n.parent_instance_id IS NULL');
  if (ids !== null) conditions.push(`n.id = ANY (${uuidArray(ids, bind)})`);
  else if (metadata !== null) conditions.push(`n.metadata @> ${bind(metadata, 'jsonb')}`);
  if (idempotencyKey !== null) {
    // Both key spaces are named so that the unique index finds it.
    conditions.push(`n.dry_run IN (false, true) AND n.idempotency_key = ${bind(idempotencyKey, 'text')}`);
  }
  if (idRange !== null) {
    conditions.push(`n.id BETWEEN ${bind(idRange.from, 'uuid')} AND ${bind(idRange.to, 'uuid')}`);
  }
  return conditions;
}

function keyCondition({ concurrencyKey = null }: InstanceListFilter, bind: Bind): readonly string[] {
  return concurrencyKey === null ? [] : [`n.concurrency_key = ${bind(concurrencyKey, 'text')}`];
}

function windowConditions(filter: InstanceListFilter, bind: Bind): readonly string[] {
  const { createdAfter = null, createdBefore = null } = filter;
  return [
    ...(createdAfter === null ? [] : [`n.created_at > stepwell.from_ms(${bind(createdAfter, 'bigint')})`]),
    ...(createdBefore === null ? [] : [`n.created_at < stepwell.from_ms(${bind(createdBefore, 'bigint')})`]),
  ];
}

function uuidArray(ids: readonly string[], bind: Bind): string {
  return `(${bind(`{${ids.join(',')}}`, 'text')})::uuid[]`;
}
