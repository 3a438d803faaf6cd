import { createApiKey } from '../../engine/api-keys/manage-keys.ts';
import { notFound, refuse } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import {
  ApiKeyInput,
  ApiKeyList,
  ApiKeyPath,
  ApiKeyQuery,
  CreatedApiKeyBody,
  showApiKey,
  showCreatedKey,
} from '../schemas/api-key.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'api keys';
const access = 'admin';

const create = defineBodyRoute({
  method: 'POST',
  path: '/api-keys',
  tag,
  access,
  summary: 'Create a key of a tenant; its secret is shown only here',
  secretAnswer: true,
  params: NoParameters,
  query: NoParameters,
  body: ApiKeyInput,
  responses: { 201: CreatedApiKeyBody },
  handle: async (deps, { body }) => {
    const made = await createApiKey(deps, {
      tenantId: body.tenant_id,
      name: body.name,
      capabilities: body.capabilities,
      expiresAt: body.expires_at,
    });
    return made.ok ? created(showCreatedKey(made.value.key, made.value.secret)) : made;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/api-keys',
  tag,
  access,
  summary: 'Keys of a tenant, newest first',
  params: NoParameters,
  query: ApiKeyQuery,
  responses: { 200: ApiKeyList },
  handle: async ({ store }, { filter }) => {
    if (filter.tenant_id.trim() === '') {
      return refuse('invalid_argument', 'tenant_id query parameter is required');
    }
    return okay((await store.listApiKeys(filter.tenant_id)).map(showApiKey));
  },
});

const revoke = defineRoute({
  method: 'DELETE',
  path: '/api-keys/{id}',
  tag,
  access,
  summary: 'Revoke a key at once',
  params: ApiKeyPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store, keyRing }, { path }) => {
    // An answer that was lost may have been yes.
    const revoked = await store.revokeApiKey(path.id).finally(() => keyRing.forget());
    return revoked ? noContent : notFound('api key', path.id);
  },
});

export const apiKeyRoutes = [create, list, revoke];
