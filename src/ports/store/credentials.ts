/** Secrets for steps (sequences.md 8.8). The store sees secrets sealed only (see ports/seal.ts). */
export interface CredentialStore {
  /** False: the tenant has a credential with this id already. */
  insertCredential(credential: NewCredential): Promise<boolean>;
  /** `tenantId` null: an administrator; the id alone counts, the first tenant's by name. */
  getCredential(tenantId: string | null, id: string): Promise<CredentialRecord | null>;
  /** By id. */
  listCredentials(tenantId: string | null, limit: number): Promise<readonly CredentialRecord[]>;
  /** Replaces the members that are given; null when there is no such credential. */
  updateCredential(tenantId: string, id: string, patch: CredentialPatch): Promise<CredentialRecord | null>;
  deleteCredential(tenantId: string, id: string): Promise<boolean>;
}

export type CredentialKind = 'api_key' | 'oauth2' | 'basic';

export interface NewCredential {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly kind: CredentialKind;
  readonly enabled: boolean;
  readonly sealedValue: string;
  readonly sealedRefreshToken: string | null;
  readonly refreshUrl: string | null;
  readonly expiresAt: number | null;
  readonly description: string | null;
}

export interface CredentialRecord extends NewCredential {
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type CredentialPatch = Partial<Omit<NewCredential, 'id' | 'tenantId'>>;
