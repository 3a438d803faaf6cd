import type { JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import type { ApiFixture, CallOptions } from './api-fixture.ts';
import { TENANT } from './api-fixture.ts';

/** A sequence document with one step that does nothing. */
export function document(overrides: JsonObject = {}): JsonObject & { readonly id: string } {
  return {
    id: nextId(),
    tenant_id: TENANT,
    namespace: 'fulfilment',
    name: 'parcel-return',
    version: 1,
    blocks: [{ type: 'step', id: 'first', handler: 'noop' }],
    created_at: '2027-02-11T07:45:00.000Z',
    ...overrides,
  };
}

/** Publishes a document and answers its id. */
export async function published(
  api: ApiFixture,
  overrides: JsonObject = {},
  options: CallOptions = {},
): Promise<string> {
  const body = document(overrides);
  const reply = await api.call('POST', '/sequences', { ...options, body });
  if (reply.status !== 201) throw new Error(`publish answered ${reply.status} ${reply.text}`);
  return body.id;
}

/** Body of a start. */
export function startBody(sequenceId: string, overrides: JsonObject = {}): JsonObject {
  return { sequence_id: sequenceId, tenant_id: TENANT, namespace: 'fulfilment', ...overrides };
}

/** Starts an instance of a fresh sequence and answers its id. */
export async function started(api: ApiFixture, overrides: JsonObject = {}): Promise<string> {
  const sequenceId = await published(api, { name: `sequence-${nextId()}` });
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });
  if (reply.status !== 201) throw new Error(`start answered ${reply.status} ${reply.text}`);
  return reply.body.id as string;
}
