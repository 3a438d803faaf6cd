import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, START_MS, TENANT } from './support/api-fixture.ts';
import { published, startBody } from './support/documents.ts';

let api: ApiFixture;
let sequenceId: string;
beforeEach(async () => {
  api = createFixture();
  sequenceId = await published(api);
});

const start = (overrides = {}) => api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });

describe('POST /instances', () => {
  it('starts an instance that shows all defaults [INS-1]', async () => {
    const reply = await start();
    expect(reply).toMatchObject({ status: 201, body: { deduplicated: false } });
    const { id } = reply.body;
    const { body } = await api.call('GET', `/instances/${id}`);
    expect(body).toEqual({
      id,
      sequence_id: sequenceId,
      tenant_id: TENANT,
      namespace: 'fulfilment',
      state: 'scheduled',
      next_fire_at: '2027-02-11T08:00:00.000Z',
      priority: 'Normal',
      timezone: 'UTC',
      metadata: {},
      context: {
        data: {},
        config: {},
        audit: [],
        runtime: {
          instance_id: id,
          run_id: body.context.runtime.run_id,
          current_step: null,
          attempt: 0,
          started_at: null,
          current_step_started_at: null,
          resource_key: null,
          total_steps_executed: 0,
          dry_run: false,
          dry_run_auto_approve: false,
        },
      },
      idempotency_key: null,
      input: {},
      created_at: '2027-02-11T08:00:00.000Z',
      updated_at: '2027-02-11T08:00:00.000Z',
    });
  });

  it('keeps everything that was sent', async () => {
    const sent = {
      priority: 'high',
      timezone: 'Nowhere/Land',
      metadata: { depot: 'north-2', n: 1 },
      context: { data: { parcel: 'PX' }, config: { holidays: [] }, audit: [{ event: 'x' }], more: 1 },
      next_fire_at: '2027-03-01T10:00:00+02:00',
      concurrency_key: 'depot',
      max_concurrency: 2,
      idempotency_key: 'return-PX',
      budget: { max_steps: 5, max_total_tokens: null, other: 1 },
      dry_run: true,
      dry_run_auto_approve: true,
      unknown: 'ignored',
    };
    const { id } = (await start(sent)).body;
    const { body } = await api.call('GET', `/instances/${id}`);
    expect(body).toMatchObject({
      priority: 'High',
      timezone: 'Nowhere/Land',
      metadata: sent.metadata,
      context: { data: { parcel: 'PX' }, config: { holidays: [] }, audit: [{ event: 'x' }] },
      next_fire_at: '2027-03-01T08:00:00.000Z',
      concurrency_key: 'depot',
      max_concurrency: 2,
      idempotency_key: 'return-PX',
      budget: { max_steps: 5 },
    });
    expect(body.context.runtime).toMatchObject({ dry_run: true, dry_run_auto_approve: true });
    expect(body.context).not.toHaveProperty('more');
  });

  it('reads dry_run from the runtime section and ignores the rest of it [INS-3]', async () => {
    const { id } = (await start({ context: { runtime: { dry_run: true, run_id: 'mine' } } })).body;
    const { runtime } = (await api.call('GET', `/instances/${id}`)).body.context;
    expect(runtime.dry_run).toBe(true);
    expect(runtime.run_id).not.toBe('mine');
  });

  it('treats null as absent and a past time as now', async () => {
    const { id } = (
      await start({
        priority: null,
        metadata: null,
        context: null,
        budget: null,
        next_fire_at: '2001-01-01T00:00:00Z',
      })
    ).body;
    const { body } = await api.call('GET', `/instances/${id}`);
    expect(body).toMatchObject({
      priority: 'Normal',
      metadata: {},
      context: { data: {}, config: {}, audit: [] },
    });
    expect(Date.parse(body.next_fire_at ?? body.created_at)).toBeLessThanOrEqual(START_MS);
  });

  it('answers with the first instance for a known key, and says when the repeat differs', async () => {
    const first = await start({ idempotency_key: 'k', context: { data: { a: 1 } } });
    const same = await start({ idempotency_key: 'k', context: { data: { a: 1 } } });
    expect(same).toMatchObject({ status: 200, body: { id: first.body.id, deduplicated: true } });
    expect(same.body).not.toHaveProperty('conflict');
    const other = await start({ idempotency_key: 'k', context: { data: { a: 2 } } });
    expect(other).toMatchObject({
      status: 200,
      body: { id: first.body.id, deduplicated: true, conflict: true },
    });
  });

  it('keeps the keys of dry runs apart and takes an empty key for none', async () => {
    const real = await start({ idempotency_key: 'k' });
    expect((await start({ idempotency_key: 'k', dry_run: true })).status).toBe(201);
    expect((await start({ idempotency_key: 'k' })).body.id).toBe(real.body.id);
    expect((await start({ idempotency_key: '' })).status).toBe(201);
    expect((await start({ idempotency_key: '' })).status).toBe(201);
  });

  it('starts one instance for many calls with one key at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => start({ idempotency_key: 'k' })));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it('takes the lease and hands the claim on when the process has room', async () => {
    api.runner.room = true;
    const { id } = (await start()).body;
    expect(api.runner.adopted.map((claim) => claim.instanceId)).toEqual([id]);
    expect((await api.call('GET', `/instances/${id}`)).body.state).toBe('running');
  });

  it('takes no lease for an instance that is not due', async () => {
    api.runner.room = true;
    await start({ next_fire_at: '2027-03-01T10:00:00Z' });
    expect(api.runner.adopted).toEqual([]);
  });

  it.each([
    ['sequence_id', undefined, 'missing field `sequence_id`'],
    ['sequence_id', 'x', 'sequence_id'],
    ['tenant_id', undefined, 'missing field `tenant_id`'],
    ['tenant_id', '', 'tenant_id'],
    ['namespace', 7, 'namespace'],
    ['priority', 'urgent', 'priority'],
    ['metadata', [], 'metadata'],
    ['context', 'text', 'context'],
    ['next_fire_at', 'tomorrow', 'next_fire_at'],
    ['next_fire_at', '2027-02-30T00:00:00Z', 'next_fire_at'],
    ['next_fire_at', '9999-12-31T23:59:59-10:00', 'next_fire_at'],
    ['max_concurrency', 1.5, 'max_concurrency'],
    ['budget', { max_steps: 1.5 }, 'max_steps'],
    ['dry_run', 'yes', 'dry_run'],
  ])('answers 422 when %s is %j', async (member, value, fragment) => {
    const { [member]: _left, ...rest } = startBody(sequenceId);
    const before = await api.footprint();
    const body = value === undefined ? rest : { ...rest, [member]: value };
    const reply = await api.call('POST', '/instances', { body });
    expect(reply).toMatchObject({ status: 422, body: { code: 'invalid_shape' } });
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });

  it.each([
    [{ namespace: '' }, 400, 'namespace must not be empty'],
    [{ namespace: '  ' }, 400, 'namespace must not be empty'],
    [{ max_concurrency: 0 }, 400, 'max_concurrency'],
    [{ budget: { max_steps: -1 } }, 400, 'budget: max_steps must not be negative'],
    [{ idempotency_key: 'k'.repeat(256) }, 400, 'idempotency_key'],
    [{ tenant_id: OTHER_TENANT }, 403, 'tenant_id'],
    [{ sequence_id: nextId() }, 404, 'sequence'],
    [{ context: { data: { big: 'x'.repeat(262_144) } } }, 413, 'context too large'],
  ])('answers %j with %i', async (overrides, status, fragment) => {
    const before = await api.footprint();
    const reply = await start(overrides);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });

  it('checks shape, tenant, blanks, sequence, schema and size in this order [INS-2] [INS-4]', async () => {
    const schema = { type: 'object', required: ['parcel'] };
    const id = await published(api, { name: 'strict', input_schema: schema });
    const wrong = {
      sequence_id: nextId(),
      tenant_id: OTHER_TENANT,
      namespace: '',
      context: { data: { big: 'x'.repeat(262_144) } },
      priority: 'urgent',
    };
    const fixes = [
      [{}, 422],
      [{ priority: 'Low' }, 403],
      [{ tenant_id: TENANT }, 400],
      [{ namespace: 'n' }, 404],
      [{ sequence_id: id }, 422],
      [{ context: { data: { parcel: 1, big: 'x'.repeat(262_144) } } }, 413],
      [{ context: { data: { parcel: 1 } } }, 201],
    ] as const;
    let body = wrong;
    for (const [fix, status] of fixes) {
      body = { ...body, ...fix } as typeof wrong;
      expect((await api.call('POST', '/instances', { body })).status).toBe(status);
    }
  });

  it('lists every violation of the input schema with its pointer [INS-5]', async () => {
    const properties = { parcel: { type: 'string' }, weight: { type: 'number' } };
    const schema = { type: 'object', required: ['depot'], properties };
    const id = await published(api, { name: 'strict', input_schema: schema });
    const body = startBody(id, { context: { data: { parcel: 1, weight: 'x' } } });
    const reply = await api.call('POST', '/instances', { body });
    expect(reply).toMatchObject({ status: 422, body: { code: 'input_schema_violation' } });
    for (const fragment of ['/parcel', '/weight', 'depot']) expect(reply.body.error).toContain(fragment);
    expect(reply.body.details.length).toBeGreaterThanOrEqual(3);
  });
});
