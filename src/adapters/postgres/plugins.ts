import type { PluginRecord, PluginStore } from '../../ports/store/plugins.ts';
import { tenantCall } from './call.ts';
import type { SqlDriver, SqlParam, SqlRows } from './driver.ts';
import { answerOf } from './rows.ts';

const SHOWN = `json_build_object('name', p.name, 'tenantId', p.tenant_id, 'pluginType', p.plugin_type, 'source', p.source,
  'enabled', p.enabled, 'config', p.config, 'description', p.description,
  'createdAt', stepwell.to_ms(p.created_at), 'updatedAt', stepwell.to_ms(p.updated_at))`;

const INSERT = `
INSERT INTO stepwell.plugins (tenant_id, name, plugin_type, source, enabled, config, description, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, stepwell.sw_now(), stepwell.sw_now())
ON CONFLICT ON CONSTRAINT plugins_pkey DO NOTHING
RETURNING name`;

const GET = `
SELECT ${SHOWN} FROM stepwell.plugins p WHERE ($1::text IS NULL OR p.tenant_id = $1) AND p.name = $2
ORDER BY p.tenant_id LIMIT 1`;

const LIST = `
SELECT coalesce(json_agg(${SHOWN} ORDER BY p.name, p.tenant_id), '[]')
FROM (
  SELECT * FROM stepwell.plugins n
  WHERE ($1::text IS NULL OR n.tenant_id = $1) AND ($2::text IS NULL OR n.plugin_type = $2)
  ORDER BY n.name, n.tenant_id LIMIT $3
) p`;

/** Members that are absent from the patch stay; null clears. */
const UPDATE = `
UPDATE stepwell.plugins p
SET source = CASE WHEN c.v ? 'source' THEN c.v ->> 'source' ELSE p.source END,
  enabled = CASE WHEN c.v ? 'enabled' THEN (c.v ->> 'enabled')::boolean ELSE p.enabled END,
  config = CASE WHEN c.v ? 'config' THEN c.v -> 'config' ELSE p.config END,
  description = CASE WHEN c.v ? 'description' THEN c.v ->> 'description' ELSE p.description END,
  updated_at = stepwell.sw_now()
FROM (SELECT $3::jsonb AS v) c
WHERE p.tenant_id = $1 AND p.name = $2
RETURNING ${SHOWN}`;

const DELETE = 'DELETE FROM stepwell.plugins p WHERE p.tenant_id = $1 AND p.name = $2 RETURNING p.name';

export function createPluginStore(driver: SqlDriver): PluginStore {
  // The policies know no empty tenant: what is nobody's is an administrator's.
  const callAs = (tenantId: string | null, text: string, params: readonly SqlParam[]): Promise<SqlRows> =>
    tenantCall(driver, tenantId === '' ? null : tenantId, text, params);
  return {
    async insertPlugin({ tenantId, name, pluginType, source, enabled, config, description }) {
      const params = [tenantId, name, pluginType, source, enabled, JSON.stringify(config), description];
      return (await callAs(tenantId, INSERT, params)).length > 0;
    },
    async getPlugin(tenantId, name) {
      return answerOf<PluginRecord | undefined>(await callAs(tenantId, GET, [tenantId, name])) ?? null;
    },
    async listPlugins({ tenantId, pluginType, limit }) {
      return answerOf<PluginRecord[]>(await callAs(tenantId, LIST, [tenantId, pluginType, limit]));
    },
    async updatePlugin(tenantId, name, patch) {
      const params = [tenantId, name, JSON.stringify(patch)];
      return answerOf<PluginRecord | undefined>(await callAs(tenantId, UPDATE, params)) ?? null;
    },
    async deletePlugin(tenantId, name) {
      return (await callAs(tenantId, DELETE, [tenantId, name])).length > 0;
    },
  };
}
