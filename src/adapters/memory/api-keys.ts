import { compareCodePoints } from '../../core/json.ts';
import type { ApiKey, ApiKeyStore, NewApiKey } from '../../ports/store/api-keys.ts';
import type { Tx } from './database.ts';
import type { ApiKeyRow } from './rows.ts';

const USED_EVERY_MS = 60_000;
const LISTED_MAX = 1000;

function insertApiKey(tx: Tx, key: NewApiKey): ApiKey {
  const row: ApiKeyRow = { ...key, createdAt: tx.t, lastUsedAt: null, revoked: false };
  tx.db.apiKeys.put(row.id, row);
  return viewOf(row);
}

function useApiKey(tx: Tx, secretHash: string): ApiKey | null {
  const row = tx.db.apiKeys.values().find((candidate) => candidate.secretHash === secretHash);
  if (row === undefined || row.revoked || (row.expiresAt !== null && row.expiresAt <= tx.t)) return null;
  const isFresh = row.lastUsedAt !== null && row.lastUsedAt >= tx.t - USED_EVERY_MS;
  const used = isFresh ? row : { ...row, lastUsedAt: tx.t };
  if (!isFresh) tx.db.apiKeys.put(row.id, used);
  return viewOf(used);
}

function listApiKeys(tx: Tx, tenantId: string): readonly ApiKey[] {
  return tx.db.apiKeys
    .values()
    .filter((row) => row.tenantId === tenantId)
    .sort((a, b) => b.createdAt - a.createdAt || compareCodePoints(b.id, a.id))
    .slice(0, LISTED_MAX)
    .map(viewOf);
}

function revokeApiKey(tx: Tx, id: string): boolean {
  const row = tx.db.apiKeys.get(id);
  if (row === undefined || row.revoked) return false;
  tx.db.apiKeys.put(id, { ...row, revoked: true });
  return true;
}

/** The part of the store that keeps the keys of tenants. */
export function apiKeyPart(run: <T>(operation: (tx: Tx) => T) => Promise<T>): ApiKeyStore {
  return {
    insertApiKey: (key) => run((tx) => insertApiKey(tx, key)),
    useApiKey: (secretHash) => run((tx) => useApiKey(tx, secretHash)),
    listApiKeys: (tenantId) => run((tx) => listApiKeys(tx, tenantId)),
    revokeApiKey: (id) => run((tx) => revokeApiKey(tx, id)),
  };
}

function viewOf({ secretHash: _secretHash, ...key }: ApiKeyRow): ApiKey {
  return key;
}
