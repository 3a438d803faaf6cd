/** What a key of a tenant may do (http-api.md 24); the union of its capabilities counts. */
export type Capability = 'operator' | 'worker' | 'approver' | 'publisher' | 'auditor' | 'device';

export interface NewApiKey {
  /** `ak_` and 32 hex digits. */
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly capabilities: readonly Capability[];
  /** SHA-256 of the secret, lower-case hex; the secret itself is stored nowhere. */
  readonly secretHash: string;
  readonly expiresAt: number | null;
}

export interface ApiKey extends Omit<NewApiKey, 'secretHash'> {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revoked: boolean;
}

/** Keys belong to tenants and are kept by administrators. */
export interface ApiKeyStore {
  insertApiKey(key: NewApiKey): Promise<ApiKey>;
  /**
   * The live key with this hash: neither revoked nor expired on the database's clock. Notes that it was used, at most
   * once a minute.
   */
  useApiKey(secretHash: string): Promise<ApiKey | null>;
  /** Newest first, revoked and expired ones included. */
  listApiKeys(tenantId: string): Promise<readonly ApiKey[]>;
  /** False when there is no such key, or it was revoked before. */
  revokeApiKey(id: string): Promise<boolean>;
}
