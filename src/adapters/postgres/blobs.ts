import { decodeBase64, encodeBase64 } from '../../core/expressions/base64.ts';
import type { BlobFacts, BlobStore, ListedBlob } from '../../ports/store/blobs.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const PUT = 'SELECT stepwell.put_blob_v1($1, $2, $3, $4, $5, $6, $7)';
const GET = 'SELECT stepwell.get_blob_v1($1, $2, $3, $4)';

const LIST = `
SELECT coalesce((
  SELECT json_agg(json_build_object('artifactId', b.artifact_id, 'contentType', b.content_type, 'size', b.size,
    'sha256', b.sha256) ORDER BY b.artifact_id)
  FROM (
    SELECT l.artifact_id, l.content_type, l.size, l.sha256 FROM stepwell.blobs l
    WHERE l.tenant_id = i.tenant_id AND l.instance_id = i.id ORDER BY l.artifact_id LIMIT $3
  ) b), '[]')
FROM stepwell.task_instances i WHERE ($1::text IS NULL OR i.tenant_id = $1) AND i.id = $2`;

/** Bytes travel as base64, which every driver carries alike. */
export function createBlobStore(driver: SqlDriver): BlobStore {
  return {
    async listBlobs(tenantId, instanceId, limit) {
      if (!isUuid(instanceId)) return null;
      const rows = await tenantCall(driver, tenantId, LIST, [tenantId, instanceId, limit]);
      return answerOf<ListedBlob[] | undefined>(rows) ?? null;
    },
    async putBlob({ tenantId, instanceId }, { artifactId, contentType, size, sha256, bytes }) {
      const text = new TextDecoder().decode(encodeBase64(bytes));
      await call(driver, PUT, [tenantId, instanceId, artifactId, contentType, size, sha256, text]);
    },
    async getBlob({ tenantId, instanceId }, artifactId, maxBytes) {
      const found = answerOf<(BlobFacts & { readonly base64: string | null }) | null>(
        await call(driver, GET, [tenantId, instanceId, artifactId, maxBytes]),
      );
      if (found === null) return null;
      const { base64, ...facts } = found;
      return { ...facts, bytes: base64 === null ? null : (decodeBase64(base64) ?? null) };
    },
  };
}
