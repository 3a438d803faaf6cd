import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

let api: LiveApi;

const WAIT = {
  type: 'step',
  id: 'wait',
  handler: 'wait_for_event',
  params: { events: ['paid', 'packed'], correlation_key: '{{ data.key }}' },
  wait_for_input: { prompt: 'Go on without?' },
};

async function start(blocks: readonly JsonObject[], data: JsonObject = {}): Promise<string> {
  const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, { context: { data } }) });
  expect(reply).toMatchObject({ status: 201 });
  return reply.body.id as string;
}

const event = (name: string, overrides: JsonObject = {}): JsonObject => ({
  tenant_id: TENANT,
  event_name: name,
  producer_event_id: `p-${nextId()}`,
  correlation_key: 'o-7',
  ...overrides,
});
const send = (name: string, overrides: JsonObject = {}) =>
  api.call('POST', '/events', { body: event(name, overrides) });
const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;

/** Registers the tests of events over HTTP over one kind of store. */
export function describeEventApi(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('events over HTTP', () => {
    it('a run that waits for two events goes on after the second, a repeat is one event (E23) [WAIT-4]', async () => {
      const id = await start([WAIT], { key: 'o-7' });
      await api.until(id, 'waiting');
      const paid = await send('paid', { producer_event_id: 'p-1', payload: { sum: 12 } });
      expect(paid).toMatchObject({ status: 201, body: { duplicate: false, satisfied: false } });
      const again = await send('paid', { producer_event_id: 'p-1', payload: { sum: 99 } });
      expect(again).toMatchObject({ status: 200, body: { duplicate: true, event_id: paid.body.event_id } });
      expect(await api.until(id, 'waiting')).toMatchObject({ state: 'waiting' });
      const packed = await send('packed', { producer_event_id: 'k-9', payload: {} });
      expect(packed.body).toMatchObject({ satisfied: true, matched_wait: paid.body.matched_wait });
      const done = await api.until(id, 'completed', 'failed');
      expect(done).toMatchObject({ state: 'completed', context: { data: { key: 'o-7', wait: 'yes' } } });
      const rows = await get(`/instances/${id}/outputs`);
      const entries = {
        paid: { event_name: 'paid', producer_event_id: 'p-1', payload: { sum: 12 } },
        packed: { event_name: 'packed', producer_event_id: 'k-9', payload: {} },
      };
      expect(rows.map((row: Body) => row.output)).toEqual([
        { value: 'yes', _human_gate: true },
        {
          wait_id: paid.body.matched_wait,
          waiting_for: ['paid', 'packed'],
          correlation_key: 'o-7',
          satisfied: true,
          matched: ['paid', 'packed'],
          events: entries,
          all: [entries.paid, entries.packed],
        },
      ]);
      expect(await get(`/events?tenant_id=${TENANT}&status=consumed`)).toHaveLength(2);
    });

    it('a repeat with another correlation key or payload changes nothing (22.3)', async () => {
      const first = await send('paid', { producer_event_id: 'p-1', payload: 1 });
      const repeat = await send('paid', { producer_event_id: 'p-1', payload: 2, correlation_key: 'o-8' });
      expect(repeat.body).toEqual({ event_id: first.body.event_id, duplicate: true, satisfied: false });
      expect(await get(`/events/${first.body.event_id}`)).toMatchObject({
        payload: 1,
        correlation_key: 'o-7',
      });
    });

    it.each([
      ['no event_name', { event_name: undefined }, 422, 'missing field `event_name`'],
      ['no producer_event_id', { producer_event_id: undefined }, 422, 'producer_event_id'],
      ['no correlation_key', { correlation_key: undefined }, 422, 'correlation_key'],
      ['no tenant_id', { tenant_id: undefined }, 422, 'tenant_id'],
      ['a blank event_name', { event_name: ' ' }, 400, 'event_name must not be empty'],
      ['an empty producer_event_id', { producer_event_id: '' }, 400, 'producer_event_id'],
      ['a blank correlation_key', { correlation_key: '\t' }, 400, 'correlation_key'],
      ['a long correlation_key', { correlation_key: 'k'.repeat(513) }, 400, 'must not exceed 512 bytes'],
      ['another tenant', { tenant_id: OTHER_TENANT }, 403, 'tenant'],
    ])('refuses %s', async (_, overrides, status, text) => {
      const reply = await send('paid', overrides as unknown as JsonObject);
      expect(reply).toMatchObject({ status });
      expect(reply.text).toContain(text);
    });

    it('a batch is stored in its order, and nothing of it when one entry is wrong', async () => {
      const id = await start([WAIT], { key: 'o-7' });
      await api.until(id, 'waiting');
      const batch = (events: readonly JsonObject[]) =>
        api.call('POST', '/events/batch', { body: { events } });
      expect(await batch([event('paid'), event('packed', { correlation_key: '' })])).toMatchObject({
        status: 400,
      });
      expect(await batch([event('paid'), event('packed', { tenant_id: OTHER_TENANT })])).toMatchObject({
        status: 403,
      });
      expect(await batch([])).toMatchObject({ status: 400 });
      expect(await batch(Array.from({ length: 101 }, () => event('paid')))).toMatchObject({ status: 400 });
      expect(await get('/events')).toEqual([]);
      const sent = await batch([
        event('paid', { producer_event_id: 'p' }),
        event('paid', { producer_event_id: 'p' }),
        event('packed'),
      ]);
      expect(sent).toMatchObject({
        status: 200,
        body: { outcomes: [{ duplicate: false }, { duplicate: true }, { satisfied: true }] },
      });
      await api.until(id, 'completed');
    });

    it('the list is newest first, redacted and of one tenant', async () => {
      await send('paid', { payload: { token: 'abc', sum: 1 } });
      const last = await send('packed');
      const list = await get('/events');
      expect(list.map((item: Body) => item.event_name)).toEqual(['packed', 'paid']);
      expect(list[1]).toMatchObject({ payload: { token: '[REDACTED]', sum: 1 }, status: 'pending' });
      expect(list[0]).not.toHaveProperty('consumed_by');
      expect(await get('/events?limit=1')).toHaveLength(1);
      expect((await api.call('GET', '/events?status=lost')).status).toBe(400);
      expect((await api.call('GET', '/events', { tenant: null })).status).toBe(400);
      const foreign = await api.call('GET', `/events/${last.body.event_id}`, { tenant: OTHER_TENANT });
      expect(foreign.status).toBe(404);
    });

    it('a person may open the gate, the events that came count as not enough [WAIT-5]', async () => {
      const id = await start([WAIT], { key: 'o-7' });
      await api.until(id, 'waiting');
      await send('paid');
      const answer = { signal_type: { custom: 'human_input:wait' }, payload: { value: 'no' } };
      await api.call('POST', `/instances/${id}/signals`, { body: answer });
      expect(await api.until(id, 'completed')).toMatchObject({ context: { data: { wait: 'no' } } });
      const rows = await get(`/instances/${id}/outputs`);
      expect(rows[1].output).toMatchObject({ satisfied: false, matched: ['paid'], events: {}, all: [] });
      expect(await send('packed')).toMatchObject({ body: { duplicate: false } });
      expect((await get('/events?status=pending')).map((item: Body) => item.event_name)).toEqual(['packed']);
    });

    it('an event that nobody wants yet is taken by the wait that comes after it [WAIT-2]', async () => {
      await send('packed');
      await send('paid');
      const id = await start([WAIT], { key: 'o-7' });
      expect(await api.until(id, 'completed', 'failed')).toMatchObject({ state: 'completed' });
      const rows = await get(`/instances/${id}/outputs`);
      expect(rows[1].output).toMatchObject({ satisfied: true, matched: ['packed', 'paid'] });
    });
  });
}
