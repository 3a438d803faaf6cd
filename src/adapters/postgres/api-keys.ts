import type { ApiKey, ApiKeyStore } from '../../ports/store/api-keys.ts';
import { call } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

export function createApiKeyStore(driver: SqlDriver): ApiKeyStore {
  return {
    insertApiKey: async (key) =>
      answerOf<ApiKey>(
        await call(driver, 'SELECT stepwell.insert_api_key_v1($1::jsonb)', [JSON.stringify(key)]),
      ),
    useApiKey: async (secretHash) =>
      answerOf<ApiKey | null>(await call(driver, 'SELECT stepwell.use_api_key_v1($1)', [secretHash])),
    listApiKeys: async (tenantId) =>
      answerOf<ApiKey[]>(await call(driver, 'SELECT stepwell.list_api_keys_v1($1)', [tenantId])),
    revokeApiKey: async (id) =>
      answerOf<boolean>(await call(driver, 'SELECT stepwell.revoke_api_key_v1($1)', [id])),
  };
}
