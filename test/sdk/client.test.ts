import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/create-api.ts';
import { type Client, createClient } from '../../src/sdk/client.ts';
import { sequence } from '../../src/sdk/sequence.ts';
import { type ApiFixture, createFixture, TENANT } from '../api/support/api-fixture.ts';

const hello = sequence({
  name: 'hello',
  blocks: [{ type: 'step', id: 'greet', handler: 'transform', params: { text: 'Hello, {{data.name}}!' } }],
});

/** A client in front of the real API, without a socket in between. */
function clientOf(api: ApiFixture, options: Partial<Parameters<typeof createClient>[0]> = {}): Client {
  const app = createApi(api.deps);
  return createClient({
    url: 'http://localhost',
    tenant: TENANT,
    fetch: async (url, init) => await app.request(url, init),
    clock: api.deps.clock,
    ...options,
  });
}

describe('the client', () => {
  it('publishes a draft, filling in what the author left out', async () => {
    const api = createFixture();
    const client = clientOf(api);
    const first = await client.sequences.publish(hello);
    const second = await client.sequences.publish(hello);
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(await client.sequences.get(second.id)).toMatchObject({
      id: second.id,
      tenant_id: TENANT,
      namespace: 'default',
      name: 'hello',
      version: 2,
      created_at: '2027-02-11T08:00:00.000Z',
    });
    const page = await client.sequences.list();
    expect(page.items).toHaveLength(2);
  });

  it('starts the newest version by its name, and answers the first instance of a known key', async () => {
    const client = clientOf(createFixture());
    await client.sequences.publish(hello);
    const { id: newest } = await client.sequences.publish(hello);
    const start = { sequence_name: 'hello', context: { data: { name: 'Ada' } }, idempotency_key: 'order-17' };
    const started = await client.instances.start(start);
    expect(started.deduplicated).toBe(false);
    expect(await client.instances.start(start)).toEqual({ id: started.id, deduplicated: true });
    const instance = await client.instances.get(started.id);
    expect(instance).toMatchObject({ sequence_id: newest, state: 'scheduled', idempotency_key: 'order-17' });
    expect(instance.context.data).toEqual({ name: 'Ada' });
    const other = await client.instances.start({ ...start, context: { data: {} } });
    expect(other).toEqual({ id: started.id, deduplicated: true, conflict: true });
  });
});
