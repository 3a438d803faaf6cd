import type { CredentialPatch, CredentialRecord, CredentialStore } from '../../ports/store/credentials.ts';
import { tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const SHOWN = `json_build_object('id', c.id, 'tenantId', c.tenant_id, 'name', c.name, 'kind', c.kind,
  'enabled', c.enabled, 'sealedValue', c.sealed_value, 'sealedRefreshToken', c.sealed_refresh_token,
  'refreshUrl', c.refresh_url, 'expiresAt', stepwell.to_ms(c.expires_at), 'description', c.description,
  'createdAt', stepwell.to_ms(c.created_at), 'updatedAt', stepwell.to_ms(c.updated_at))`;

const INSERT = `
INSERT INTO stepwell.credentials (tenant_id, id, name, kind, enabled, sealed_value, sealed_refresh_token, refresh_url,
  expires_at, description, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, stepwell.from_ms($9), $10, stepwell.sw_now(), stepwell.sw_now())
ON CONFLICT ON CONSTRAINT credentials_pkey DO NOTHING
RETURNING id`;

const GET = `
SELECT ${SHOWN} FROM stepwell.credentials c WHERE ($1::text IS NULL OR c.tenant_id = $1) AND c.id = $2
ORDER BY c.tenant_id LIMIT 1`;

const LIST = `
SELECT coalesce(json_agg(${SHOWN} ORDER BY c.id, c.tenant_id), '[]')
FROM (
  SELECT * FROM stepwell.credentials n WHERE ($1::text IS NULL OR n.tenant_id = $1) ORDER BY n.id, n.tenant_id LIMIT $2
) c`;

/** Members that are absent from the patch stay; null clears. */
const UPDATE = `
UPDATE stepwell.credentials c
SET name = CASE WHEN p.v ? 'name' THEN p.v ->> 'name' ELSE c.name END,
  kind = CASE WHEN p.v ? 'kind' THEN p.v ->> 'kind' ELSE c.kind END,
  enabled = CASE WHEN p.v ? 'enabled' THEN (p.v ->> 'enabled')::boolean ELSE c.enabled END,
  sealed_value = CASE WHEN p.v ? 'sealedValue' THEN p.v ->> 'sealedValue' ELSE c.sealed_value END,
  sealed_refresh_token =
    CASE WHEN p.v ? 'sealedRefreshToken' THEN p.v ->> 'sealedRefreshToken' ELSE c.sealed_refresh_token END,
  refresh_url = CASE WHEN p.v ? 'refreshUrl' THEN p.v ->> 'refreshUrl' ELSE c.refresh_url END,
  expires_at = CASE WHEN p.v ? 'expiresAt' THEN stepwell.from_ms((p.v ->> 'expiresAt')::bigint) ELSE c.expires_at END,
  description = CASE WHEN p.v ? 'description' THEN p.v ->> 'description' ELSE c.description END,
  updated_at = stepwell.sw_now()
FROM (SELECT $3::jsonb AS v) p
WHERE c.tenant_id = $1 AND c.id = $2
RETURNING ${SHOWN}`;

const DELETE = 'DELETE FROM stepwell.credentials c WHERE c.tenant_id = $1 AND c.id = $2 RETURNING c.id';

export function createCredentialStore(driver: SqlDriver): CredentialStore {
  return {
    async insertCredential(c) {
      const params = [c.tenantId, c.id, c.name, c.kind, c.enabled, c.sealedValue, c.sealedRefreshToken];
      const more = [c.refreshUrl, c.expiresAt, c.description];
      return (await tenantCall(driver, c.tenantId, INSERT, [...params, ...more])).length > 0;
    },
    async getCredential(tenantId, id) {
      return (
        answerOf<CredentialRecord | undefined>(await tenantCall(driver, tenantId, GET, [tenantId, id])) ??
        null
      );
    },
    async listCredentials(tenantId, limit) {
      return answerOf<CredentialRecord[]>(await tenantCall(driver, tenantId, LIST, [tenantId, limit]));
    },
    async updateCredential(tenantId, id, patch: CredentialPatch) {
      const params = [tenantId, id, JSON.stringify(patch)];
      return (
        answerOf<CredentialRecord | undefined>(await tenantCall(driver, tenantId, UPDATE, params)) ?? null
      );
    },
    async deleteCredential(tenantId, id) {
      return (await tenantCall(driver, tenantId, DELETE, [tenantId, id])).length > 0;
    },
  };
}
