import { changeCredential, createCredential, removeCredential } from '../../engine/credentials.ts';
import { notFound } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, noContent, okay } from '../route.ts';
import {
  CredentialBody,
  CredentialList,
  CredentialPatchBody,
  CredentialPath,
  CredentialQuery,
  CredentialShown,
  showCredential,
} from '../schemas/credential.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'credentials';

const create = defineBodyRoute({
  method: 'POST',
  path: '/credentials',
  tag,
  summary: 'Store a secret for steps',
  params: NoParameters,
  query: NoParameters,
  body: CredentialBody,
  responses: { 201: CredentialShown },
  handle: async (deps, { caller, body }) => {
    const credential = await createCredential(deps, caller, body);
    return credential.ok ? created(showCredential(credential.value)) : credential;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/credentials',
  tag,
  summary: 'List credentials by id, without their secrets',
  params: NoParameters,
  query: CredentialQuery,
  responses: { 200: CredentialList },
  handle: async ({ store }, { caller, filter }) => {
    const credentials = await store.listCredentials(caller.tenantId ?? filter.tenant_id, filter.limit);
    return okay(credentials.map(showCredential));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/credentials/{id}',
  tag,
  summary: 'Get a credential without its secrets',
  params: CredentialPath,
  query: NoParameters,
  responses: { 200: CredentialShown },
  handle: async ({ store }, { caller, path }) => {
    const credential = await store.getCredential(caller.tenantId, path.id);
    return credential === null ? notFound('credential', path.id) : okay(showCredential(credential));
  },
});

const change = defineBodyRoute({
  method: 'PATCH',
  path: '/credentials/{id}',
  tag,
  summary: 'Change a credential',
  params: CredentialPath,
  query: NoParameters,
  body: CredentialPatchBody,
  responses: { 200: CredentialShown },
  handle: async (deps, { caller, path, body }) => {
    const credential = await changeCredential(deps, caller, path.id, body);
    return credential.ok ? okay(showCredential(credential.value)) : credential;
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/credentials/{id}',
  tag,
  summary: 'Delete a credential',
  params: CredentialPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async (deps, { caller, path }) => {
    const removed = await removeCredential(deps, caller, path.id);
    return removed.ok ? noContent : removed;
  },
});

export const credentialRoutes = [create, list, get, change, remove];
