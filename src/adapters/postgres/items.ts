import type { Json } from '../../core/json.ts';
import type { NodeRow } from '../../core/run/output-row.ts';
import type { CollectedItem, ItemStore } from '../../ports/store/items.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const READ_OUTPUTS_WITHIN = 'SELECT stepwell.read_outputs_within_v1($1, $2, $3::jsonb)';
const READ_VALUES = 'SELECT stepwell.read_values_v1($1, $2, $3, $4, $5)';
const READ_COLLECTED = 'SELECT stepwell.read_collected_v1($1, $2, $3::jsonb)';

const LIST_NODE_ROWS_WITHIN = `
SELECT coalesce((
  SELECT json_agg(json_build_object(
    'blockId', l.block_id, 'iteration', l.iteration, 'kind', l.kind, 'attempt', l.attempt,
    'startedAt', stepwell.to_ms(l.started_at), 'createdAt', stepwell.to_ms(l.created_at),
    'node', CASE WHEN l.kind = 'node' THEN l.output END) ORDER BY l.rev, l.ordinal)
  FROM jsonb_array_elements($3::jsonb) AS w(v)
  CROSS JOIN LATERAL (
    SELECT o.* FROM stepwell.rows_within(i.tenant_id, i.id, w.v ->> 1, w.v ->> 0) o
    WHERE o.kind IN ('result', 'node')
    ORDER BY o.rev DESC, o.ordinal DESC LIMIT 1
  ) l), '[]')
FROM stepwell.task_instances i WHERE ($1::text IS NULL OR i.tenant_id = $1) AND i.id = $2`;

export function createItemStore(driver: SqlDriver): ItemStore {
  return {
    async readOutputsWithin({ tenantId, instanceId }, wanted) {
      if (wanted.length === 0) return [];
      const pairs = JSON.stringify(wanted.map(({ pass, blockId }) => [pass, blockId]));
      const rows = await call(driver, READ_OUTPUTS_WITHIN, [tenantId, instanceId, pairs]);
      const found = answerOf<[string, string, Json][]>(rows);
      return found.map(([pass, blockId, output]) => ({ pass, blockId, output }));
    },
    async readValues({ tenantId, instanceId }, { prefix, from, count }) {
      const rows = await call(driver, READ_VALUES, [tenantId, instanceId, prefix, from, count]);
      return answerOf<[string, Json][]>(rows).map(([key, value]) => ({ key, value }));
    },
    async readCollected({ tenantId, instanceId }, query) {
      const rows = await call(driver, READ_COLLECTED, [tenantId, instanceId, JSON.stringify(query)]);
      return answerOf<CollectedAnswer[]>(rows).map(readCollectedItem);
    },
    async listNodeRowsWithin(tenantId, id, wanted) {
      if (!isUuid(id)) return null;
      const pairs = JSON.stringify(wanted.map(({ pass, blockId }) => [pass, blockId]));
      const rows = await tenantCall(driver, tenantId, LIST_NODE_ROWS_WITHIN, [tenantId, id, pairs]);
      return answerOf<NodeRow[] | undefined>(rows) ?? null;
    },
  };
}

interface CollectedAnswer {
  readonly b?: string;
  readonly o?: Json;
  readonly e?: Json;
}

function readCollectedItem({ b, o, e }: CollectedAnswer): CollectedItem {
  if (e !== undefined) return { error: e };
  return b === undefined || o === undefined ? null : { blockId: b, output: o };
}
