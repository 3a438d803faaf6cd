import { describe, expect, it } from 'vitest';
import { TenantPlans } from '../../src/core/plans.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { takeTurn } from './support/seeded-runs.ts';
import { auditEntry, settleAs } from '../support/turn-builder.ts';

/** Registers the tests of http-api.md 26 over one kind of store. */
export function describePlansOverHttp(backendName: BackendName): void {
  const backend = useBackend(backendName);
  const open = async (plans: object): Promise<ApiFixture> => {
    const limits = { maxContextBytes: 262_144, plans: TenantPlans.parse(plans) };
    return createFixture({}, { store: (await backend.fresh()).store, limits });
  };
  const sequenceIn = (api: ApiFixture, options: object = {}) =>
    published(api, { name: `s-${nextId()}`, ...options });
  const start = (api: ApiFixture, body: object) => api.call('POST', '/instances', { body });
  const batch = (api: ApiFixture, instances: readonly object[]) =>
    api.call('POST', '/instances/batch', { body: { instances } });
  const count = async (api: ApiFixture): Promise<number> =>
    (await api.call('GET', '/instances?limit=1000')).body.items.length;

  describe('plans of tenants', () => {
    it('bound active instances, of single and batch starts alike, dry runs included; an end makes room', async () => {
      const api = await open({ [TENANT]: { max_active_instances: 3 } });
      const sequence = await sequenceIn(api);
      const first = await start(api, startBody(sequence));
      expect(first.status).toBe(201);
      const dry = startBody(sequence, { dry_run: true });
      expect((await start(api, dry)).status).toBe(201);
      const two = [startBody(sequence), startBody(sequence)];
      const refused = await batch(api, two);
      expect(refused).toMatchObject({ status: 429, body: { code: 'plan_active_instances' } });
      expect(refused.body.error).toMatch(/^rate limit exceeded: /);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await count(api)).toBe(2);
      expect((await start(api, dry)).status).toBe(201);
      expect((await start(api, startBody(sequence))).status).toBe(429);
      await takeTurn(api, first.body.id, {
        audit: [auditEntry('running', 'completed')],
        settle: settleAs('completed'),
      });
      expect((await start(api, startBody(sequence))).status).toBe(201);
    });

    it('bound starts within a second; a batch above that is never taken', async () => {
      const api = await open({ [TENANT]: { max_starts_per_second: 2 } });
      const sequence = await sequenceIn(api);
      const body = startBody(sequence);
      const never = await batch(api, [body, body, body]);
      expect(never).toMatchObject({ status: 429, body: { code: 'plan_starts_per_second' } });
      expect(never.headers.get('retry-after')).toBeNull();
      expect((await batch(api, [body, body])).status).toBe(201);
      const refused = await start(api, body);
      expect(refused).toMatchObject({
        status: 429,
        body: { code: 'plan_starts_per_second', details: { limit: 2 } },
      });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await count(api)).toBe(2);
    });

    it('bound the size of a batch, the context and the namespaces, in this order', async () => {
      const plan = { max_batch_instances: 2, max_context_bytes: 100, allowed_namespaces: ['fulfilment'] };
      const api = await open({ [TENANT]: { ...plan, max_active_instances: 1 } });
      const sequence = await sequenceIn(api);
      const large = { context: { data: { text: 'x'.repeat(200) } } };
      const elsewhere = { namespace: 'elsewhere' };
      const all = startBody(sequence, { ...large, ...elsewhere });
      expect(await batch(api, [all, all, all])).toMatchObject({
        status: 429,
        body: { code: 'plan_batch_instances' },
      });
      const context = await batch(api, [startBody(sequence, elsewhere), startBody(sequence, large)]);
      expect(context).toMatchObject({ status: 413, body: { code: 'plan_context_bytes' } });
      expect(context.body.error).toContain('context too large');
      expect((await start(api, startBody(sequence, large))).status).toBe(413);
      const namespace = await batch(api, [startBody(sequence, elsewhere), startBody(sequence)]);
      expect(namespace).toMatchObject({ status: 403, body: { code: 'plan_namespace' } });
      expect((await start(api, startBody(sequence, elsewhere))).status).toBe(403);
      const active = await batch(api, [startBody(sequence), startBody(sequence)]);
      expect(active).toMatchObject({ status: 429, body: { code: 'plan_active_instances' } });
      expect(await count(api)).toBe(0);
    });

    it('are asked after the bound of all batches', async () => {
      const api = await open({ [TENANT]: { max_batch_instances: 2 } });
      const sequence = await sequenceIn(api);
      const many = Array.from({ length: 10_001 }, () => startBody(sequence));
      const reply = await batch(api, many);
      expect(reply.status).toBe(400);
      expect(reply.body.error).toContain('batch size must not exceed 10,000');
    });

    it('of 0 and of an empty list bound nothing; * is the plan of those without one', async () => {
      const nothing = { max_active_instances: 0, max_batch_instances: 0, max_context_bytes: 0 };
      const api = await open({
        [TENANT]: { ...nothing, allowed_namespaces: [] },
        '*': { max_active_instances: 1 },
      });
      const own = await sequenceIn(api);
      const instances = Array.from({ length: 5 }, () => startBody(own));
      expect((await batch(api, instances)).status).toBe(201);
      const other = { tenant: OTHER_TENANT };
      const sequence = await published(api, { tenant_id: OTHER_TENANT, name: `s-${nextId()}` }, other);
      const body = startBody(sequence, { tenant_id: OTHER_TENANT });
      expect((await api.call('POST', '/instances', { ...other, body })).status).toBe(201);
      expect((await api.call('POST', '/instances', { ...other, body })).status).toBe(429);
    });

    it('do not refuse the repeat of a start that is there already', async () => {
      const api = await open({ [TENANT]: { max_active_instances: 1 } });
      const sequence = await sequenceIn(api);
      const body = startBody(sequence, { idempotency_key: 'k' });
      const first = await start(api, body);
      expect(await start(api, body)).toMatchObject({
        status: 200,
        body: { id: first.body.id, deduplicated: true },
      });
    });

    it('bind starts through triggers too', async () => {
      const api = await open({ [TENANT]: { max_active_instances: 1 } });
      const name = `s-${nextId()}`;
      await sequenceIn(api, { name });
      const trigger = { slug: nextId(), sequence_name: name, tenant_id: TENANT, namespace: 'fulfilment' };
      expect((await api.call('POST', '/triggers', { body: trigger })).status).toBe(201);
      const fire = () => api.call('POST', `/triggers/${trigger.slug}/fire`, { body: {} });
      expect((await fire()).status).toBeLessThan(300);
      expect((await fire()).status).toBe(429);
    });
  });
}
