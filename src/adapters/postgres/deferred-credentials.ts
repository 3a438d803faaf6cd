import type { CredentialStore } from '../../ports/store/credentials.ts';
import type { SqlDriver } from './driver.ts';

/** Few steps use credentials: what reads and writes them is loaded when it is asked for (see store.ts). */
export function createDeferredCredentialStore(driver: SqlDriver): CredentialStore {
  const credentials = async (): Promise<CredentialStore> => {
    const { createCredentialStore } = await import('./credentials.ts');
    return createCredentialStore(driver);
  };
  return {
    insertCredential: async (credential) => (await credentials()).insertCredential(credential),
    getCredential: async (tenantId, id) => (await credentials()).getCredential(tenantId, id),
    listCredentials: async (tenantId, limit) => (await credentials()).listCredentials(tenantId, limit),
    updateCredential: async (tenantId, id, patch) =>
      (await credentials()).updateCredential(tenantId, id, patch),
    deleteCredential: async (tenantId, id) => (await credentials()).deleteCredential(tenantId, id),
  };
}
