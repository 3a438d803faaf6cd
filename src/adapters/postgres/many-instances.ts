import { INSTANCE_STATES } from '../../core/run/states.ts';
import type { FoundInstance, InstanceFilter, ManyInstancesStore } from '../../ports/store/many-instances.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { encodeMetadata } from './encode-metadata.ts';
import { idsWithMetadata } from './ids-with-metadata.ts';
import { answerOf } from './rows.ts';

/** The filter of the bulk changes, on one of the two indexes in the order of the last change. */
const oldest = (ofWhom: 'IS NULL' | 'IS NOT NULL'): string => `(
    SELECT n.id, n.state, n.updated_at FROM stepwell.task_instances n
    WHERE n.tenant_id = $1 AND n.state = s.state AND n.parent_instance_id ${ofWhom}
      AND ($3::text IS NULL OR n.namespace = $3)
      AND ($4::uuid IS NULL OR n.sequence_id = $4)
      AND ($5::jsonb IS NULL OR (n.metadata @> $5 AND n.metadata <> '{}'::jsonb))
    ORDER BY n.updated_at, n.id
    LIMIT $6)`;

/** Two index ranges per state, roots and children, each read from its oldest end and no further than the limit. */
const FIND = `
SELECT json_build_object('id', found.id, 'state', found.state)
FROM (
  SELECT i.id, i.state, i.updated_at
  FROM jsonb_array_elements_text($2::jsonb) AS s(state)
  CROSS JOIN LATERAL (${oldest('IS NULL')} UNION ALL ${oldest('IS NOT NULL')}) i
  ORDER BY i.updated_at, i.id
  LIMIT $6
) found`;
/** Those among a few that are known to have the metadata. */
const FIND_AMONG = `
SELECT json_build_object('id', n.id, 'state', n.state)
FROM stepwell.task_instances n
WHERE n.tenant_id = $1 AND n.state IN (SELECT jsonb_array_elements_text($2::jsonb))
  AND ($3::text IS NULL OR n.namespace = $3)
  AND ($4::uuid IS NULL OR n.sequence_id = $4)
  AND n.id = ANY (ARRAY(SELECT jsonb_array_elements_text($5::jsonb)::uuid))
ORDER BY n.updated_at, n.id
LIMIT $6`;
const SIGNAL_MANY = 'SELECT stepwell.signal_many_v1($1::jsonb)';
const NOTE = 'SELECT stepwell.note_batch_action_v1($1, $2::jsonb, $3, $4::jsonb)';
const HIGHER_DUE = 'SELECT stepwell.has_higher_due_v1($1, $2)';

export function createManyInstancesStore(driver: SqlDriver): ManyInstancesStore {
  return {
    findInstances: (filter, limit) => findInstances(driver, filter, limit),
    async signalMany({ signals, ...request }) {
      const known = signals.filter(({ instanceId }) => isUuid(instanceId));
      if (known.length === 0) return new Set();
      const params = [JSON.stringify({ ...request, signals: known })];
      return new Set(answerOf<string[]>(await call(driver, SIGNAL_MANY, params)));
    },
    async noteBatchAction(tenantId, instanceIds, fromState, details) {
      const ids = instanceIds.filter(isUuid);
      if (ids.length === 0) return;
      await call(driver, NOTE, [tenantId, JSON.stringify(ids), fromState, JSON.stringify(details)]);
    },
    async hasHigherDue(tenantId, priority) {
      return answerOf(await call(driver, HIGHER_DUE, [tenantId, priority]));
    },
  };
}

async function findInstances(
  driver: SqlDriver,
  filter: InstanceFilter,
  limit: number,
): Promise<readonly FoundInstance[]> {
  const { tenantId, namespace, sequenceId, metadata } = filter;
  if (sequenceId !== null && !isUuid(sequenceId)) return [];
  const wanted = encodeMetadata(metadata);
  if (wanted === undefined) return [];
  const states = JSON.stringify(filter.states.length === 0 ? INSTANCE_STATES : [...new Set(filter.states)]);
  const few = wanted === null ? null : await idsWithMetadata(driver, tenantId, wanted);
  const [text, among] = few === null ? [FIND, wanted] : [FIND_AMONG, JSON.stringify(few)];
  const rows = await tenantCall(driver, tenantId, text, [
    ...[tenantId, states, namespace],
    ...[sequenceId, among, limit],
  ]);
  return rows.map((row) => answerOf<FoundInstance>([row]));
}
