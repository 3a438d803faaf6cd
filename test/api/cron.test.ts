import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, type Reply, TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

let api: ApiFixture;
let body: JsonObject;
beforeEach(async () => {
  api = createFixture();
  const sequenceId = await published(api);
  body = { tenant_id: TENANT, namespace: 'fulfilment', sequence_id: sequenceId, cron_expr: '30 6 * * 1-5' };
});

const create = (overrides: JsonObject = {}): Promise<Reply> =>
  api.call('POST', '/cron', { body: { ...body, ...overrides } });
const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

describe('POST /cron', () => {
  it('answers the id and the next fire; defaults are shown by the schedule', async () => {
    const reply = await create({ timezone: 'Europe/Lisbon' });
    expect(reply).toMatchObject({ status: 201, body: { next_fire_at: '2027-02-12T06:30:00.000Z' } });
    expect((await api.call('GET', `/cron/${reply.body.id}`)).body).toEqual({
      ...{ id: reply.body.id, tenant_id: TENANT, namespace: 'fulfilment', sequence_id: body['sequence_id'] },
      ...{ cron_expr: '30 6 * * 1-5', timezone: 'Europe/Lisbon', enabled: true, metadata: {} },
      ...{ overlap_policy: 'allow', skipped_fires: 0, last_skipped_at: null, last_triggered_at: null },
      next_fire_at: '2027-02-12T06:30:00.000Z',
      ...{ created_at: '2027-02-11T08:00:00.000Z', updated_at: '2027-02-11T08:00:00.000Z' },
    });
  });

  it.each(['tenant_id', 'namespace', 'sequence_id', 'cron_expr'])('needs %s', async (name) => {
    const reply = await api.call('POST', '/cron', { body: without(name) });
    expect(reply).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining(`missing field \`${name}\``) },
    });
  });

  it.each([
    ['61 * * * *', "cron_expr: minute '61' "],
    ['* * * *', 'cron_expr: must have 5, 6 or 7 fields'],
    ['0 0 L * *', "cron_expr: day_of_month 'L' "],
    ['0 0 * * MOO', "cron_expr: day_of_week 'MOO' "],
    ['@hourly', 'cron_expr: must have 5, 6 or 7 fields'],
    ['', 'cron_expr: must have 5, 6 or 7 fields'],
  ])('refuses the expression %j, naming the field [CRON-1] (D19)', async (text, message) => {
    const reply = await create({ cron_expr: text });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toContain(`invalid argument: ${message}`);
    expect(reply.body.code).toBe('invalid_cron_expression');
  });

  it.each(['Mars/Olympus', '+01:00', '', 'Europe/'])('refuses the zone %j [CRON-2]', async (timezone) => {
    expect(await create({ timezone })).toMatchObject({ status: 400, body: { code: 'unknown_timezone' } });
  });

  it('refuses an unknown policy as a shape, blanks as arguments, other tenants and sequences', async () => {
    expect((await create({ overlap_policy: 'queue' })).status).toBe(422);
    expect((await create({ namespace: ' ' })).status).toBe(400);
    expect((await create({ tenant_id: '' })).status).toBe(422);
    expect((await create({ tenant_id: OTHER_TENANT })).status).toBe(403);
    expect((await create({ sequence_id: nextId() })).status).toBe(404);
    expect((await create({ sequence_id: 'x' })).status).toBe(422);
    const theirs = { ...body, tenant_id: OTHER_TENANT };
    expect((await api.call('POST', '/cron', { body: theirs, tenant: OTHER_TENANT })).status).toBe(403);
    expect((await api.call('GET', '/cron')).body).toEqual([]);
  });

  it('takes an expression that never occurs; there is no next fire then, and its preview is empty [CRON-1]', async () => {
    const reply = await create({ cron_expr: '0 0 31 2 *' });
    expect(reply).toMatchObject({ status: 201, body: { next_fire_at: null } });
    const shown = (await api.call('GET', `/cron/${reply.body.id}`)).body;
    expect(shown).toMatchObject({ enabled: true, next_fire_at: null });
    const fires = (await api.call('GET', `/cron/${reply.body.id}/next-fires`)).body;
    expect(fires).toMatchObject({ fires: [] });
    expect(await create({ enabled: false })).toMatchObject({ status: 201, body: { next_fire_at: null } });
  });
});

describe('PUT /cron/{id}', () => {
  it('changes what is given and counts the next fire anew from now [CRON-6]', async () => {
    const { id } = (await create()).body;
    api.clock.now += 1_000;
    const put = (change: JsonObject): Promise<Reply> => api.call('PUT', `/cron/${id}`, { body: change });
    const shown = (await put({ cron_expr: '0 9 * * *', metadata: { a: 1 }, timezone: null })).body;
    expect(shown).toMatchObject({
      ...{ cron_expr: '0 9 * * *', metadata: { a: 1 }, timezone: 'UTC', overlap_policy: 'allow' },
      ...{ next_fire_at: '2027-02-11T09:00:00.000Z', updated_at: '2027-02-11T08:00:01.000Z' },
    });
    expect((await api.call('GET', `/cron/${id}`)).body).toEqual(shown);
    expect((await put({ cron_expr: '61 * * * *' })).status).toBe(400);
    expect((await put({ timezone: 'Nowhere/Land' })).status).toBe(400);
    expect((await put({ overlap_policy: 'queue' })).status).toBe(422);
    expect((await api.call('GET', `/cron/${id}`)).body).toEqual(shown);
    expect((await put({ enabled: false })).body).toMatchObject({ enabled: false, next_fire_at: null });
  });

  it('of an unknown id is 404, of no id 400', async () => {
    expect((await api.call('PUT', `/cron/${nextId()}`, { body: {} })).status).toBe(404);
    expect((await api.call('PUT', '/cron/17', { body: {} })).status).toBe(400);
    expect((await api.call('GET', '/cron/17/next-fires')).status).toBe(400);
    expect((await api.call('GET', `/cron/${nextId()}/next-fires?n=x`)).status).toBe(400);
  });
});

describe('previews of fires (dashboard.md A10)', () => {
  const preview = (given: JsonObject): Promise<Reply> => api.call('POST', '/cron/preview', { body: given });

  it('say what the wall clock shows and what a clock change does to a fire', async () => {
    const berlin = { cron_expr: '30 2 * * *', timezone: 'Europe/Berlin', n: 3 };
    const spring = await preview({ ...berlin, from: '2027-03-27T12:00:00+01:00' });
    expect(spring).toMatchObject({ status: 200, body: { timezone: 'Europe/Berlin' } });
    expect(spring.body.preview).toEqual([
      { at: '2027-03-28T01:00:00.000Z', local: '2027-03-28T03:00:00', note: 'dst_gap' },
      { at: '2027-03-29T00:30:00.000Z', local: '2027-03-29T02:30:00', note: null },
      { at: '2027-03-30T00:30:00.000Z', local: '2027-03-30T02:30:00', note: null },
    ]);
    const autumn = await preview({ ...berlin, from: '2027-10-30T12:00:00Z', n: 2 });
    expect(autumn.body.preview).toEqual([
      { at: '2027-10-31T00:30:00.000Z', local: '2027-10-31T02:30:00', note: 'dst_ambiguous' },
      { at: '2027-11-01T01:30:00.000Z', local: '2027-11-01T02:30:00', note: null },
    ]);
    expect(autumn.body.fires).toEqual(autumn.body.preview.map(({ at }: { at: string }) => at));
  });

  it('begin now, in UTC and with five fires when nothing else is said; n is cut', async () => {
    const { body: plain } = await preview({ cron_expr: '0 9 * * *' });
    expect(plain).toMatchObject({ timezone: 'UTC', fires: { length: 5, 0: '2027-02-11T09:00:00.000Z' } });
    expect((await preview({ cron_expr: '0 9 * * *', n: 1_000 })).body.fires).toHaveLength(50);
    expect((await preview({ cron_expr: '0 9 * * *', n: -3 })).body.fires).toHaveLength(1);
    expect((await preview({ cron_expr: '0 0 30 2 *' })).body).toMatchObject({ fires: [], preview: [] });
  });

  it.each([
    [{}, 422, 'missing field `cron_expr`'],
    [{ cron_expr: 'soon' }, 400, 'cron_expr'],
    [{ cron_expr: '0 9 * * *', timezone: 'Mars/Base' }, 400, "timezone 'Mars/Base'"],
    [{ cron_expr: '0 9 * * *', from: 'now' }, 422, 'from'],
    [{ cron_expr: '0 9 * * *', n: 'all' }, 422, 'n'],
  ])('of %j are refused with %i', async (given, status, fragment) => {
    const reply = await preview(given);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
  });

  it('of a stored schedule begin where they are asked to', async () => {
    const { id } = (await create({ timezone: 'Europe/Lisbon' })).body;
    const path = `/cron/${id}/next-fires?n=1&from=${encodeURIComponent('2027-03-26T12:00:00Z')}`;
    expect((await api.call('GET', path)).body).toEqual({
      timezone: 'Europe/Lisbon',
      fires: ['2027-03-29T05:30:00.000Z'],
      preview: [{ at: '2027-03-29T05:30:00.000Z', local: '2027-03-29T06:30:00', note: null }],
    });
    expect((await api.call('GET', `/cron/${id}/next-fires?from=later`)).status).toBe(400);
  });
});
