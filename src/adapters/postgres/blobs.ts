import { decodeBase64, encodeBase64 } from '../../core/expressions/base64.ts';
import type { BlobFacts, BlobStore } from '../../ports/store/blobs.ts';
import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const PUT = 'SELECT stepwell.put_blob_v1($1, $2, $3, $4, $5, $6, $7)';
const GET = 'SELECT stepwell.get_blob_v1($1, $2, $3, $4)';

/** Bytes travel as base64, which every driver carries alike. */
export function createBlobStore(driver: SqlDriver): BlobStore {
  return {
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
