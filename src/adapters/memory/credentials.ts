import { compareCodePoints } from '../../core/json.ts';
import type { BlobStore } from '../../ports/store/blobs.ts';
import type { CredentialRecord, CredentialStore } from '../../ports/store/credentials.ts';
import { type Tx, findInstance } from './database.ts';

type Run = <T>(operation: (tx: Tx) => T) => Promise<T>;

const keyOf = (tenantId: string, id: string): string => JSON.stringify([tenantId, id]);

function ofTenant(tx: Tx, tenantId: string | null): CredentialRecord[] {
  return tx.db.credentials
    .values()
    .filter((row) => tenantId === null || row.tenantId === tenantId)
    .sort((a, b) => compareCodePoints(a.id, b.id) || compareCodePoints(a.tenantId, b.tenantId));
}

export function credentialPart(run: Run): CredentialStore {
  return {
    insertCredential: (credential) =>
      run((tx) => {
        const key = keyOf(credential.tenantId, credential.id);
        if (tx.db.credentials.has(key)) return false;
        tx.db.credentials.put(key, Object.freeze({ ...credential, createdAt: tx.t, updatedAt: tx.t }));
        return true;
      }),
    getCredential: (tenantId, id) => run((tx) => ofTenant(tx, tenantId).find((row) => row.id === id) ?? null),
    listCredentials: (tenantId, limit) => run((tx) => ofTenant(tx, tenantId).slice(0, limit)),
    updateCredential: (tenantId, id, patch) =>
      run((tx) => {
        const row = tx.db.credentials.get(keyOf(tenantId, id));
        if (row === undefined) return null;
        const next = Object.freeze({ ...row, ...patch, updatedAt: tx.t });
        tx.db.credentials.put(keyOf(tenantId, id), next);
        return next;
      }),
    deleteCredential: (tenantId, id) =>
      run((tx) => {
        const known = tx.db.credentials.has(keyOf(tenantId, id));
        tx.db.credentials.remove(keyOf(tenantId, id));
        return known;
      }),
  };
}

export function blobPart(run: Run): BlobStore {
  return {
    listBlobs: (tenantId, instanceId, limit) =>
      run((tx) => {
        if (findInstance(tx.db, tenantId, instanceId) === null) return null;
        return tx.db.blobs
          .of(instanceId)
          .values()
          .map(({ artifactId, contentType, size, sha256 }) => ({ artifactId, contentType, size, sha256 }))
          .sort((a, b) => compareCodePoints(a.artifactId, b.artifactId))
          .slice(0, limit);
      }),
    putBlob: ({ tenantId, instanceId }, blob) =>
      run((tx) => {
        const bytes = blob.bytes.slice();
        tx.db.blobs.of(instanceId).put(blob.artifactId, Object.freeze({ ...blob, bytes, tenantId }));
      }),
    getBlob: ({ tenantId, instanceId }, artifactId, maxBytes) =>
      run((tx) => {
        const found = tx.db.blobs.of(instanceId).get(artifactId);
        if (found === undefined || found.tenantId !== tenantId) return null;
        const { contentType, size, sha256, bytes } = found;
        return { contentType, size, sha256, bytes: size <= maxBytes ? bytes.slice() : null };
      }),
  };
}
