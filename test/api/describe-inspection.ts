import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Body, OTHER_TENANT, START_MS, TENANT } from './support/api-fixture.ts';
import type { BackendName } from './support/backends.ts';
import { readEvents } from './support/read-events.ts';
import { at, HOUR, NOWHERE, step, useStandingRuns } from './support/standing-runs.ts';

/** Registers what is shown of limits, signals, starts and waits, over one kind of store. */
export function describeInspection(backendName: BackendName): void {
  const runs = useStandingRuns(backendName);
  const { get, post, publish, start, run } = runs;

  describe('GET /limits [DASHBOARD A7]', () => {
    it('lists holders and waiters of concurrency keys, and the use of rate limits', async () => {
      const sequence = await publish(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      const holder = await start(sequence, key);
      const low = await start(sequence, key);
      const high = await start(sequence, { ...key, priority: 'High' });
      await runs.api.call('PUT', `/tenants/${TENANT}/rate-limits/mail`, {
        body: { max_count: 4, window_seconds: 90 },
      });
      await run(step('send', { rate_limit_key: 'mail' }));
      const { context } = await get(`/instances/${holder}`);
      const body = await get('/limits');
      expect(body.concurrency).toMatchObject([
        {
          ...{ tenant_id: TENANT, key: 'printer', max: 1, holder_count: 1, waiter_count: 2 },
          holders: [{ instance_id: holder, since: context.runtime.started_at }],
          waiters: [
            { instance_id: high, priority: 'High', max: 1 },
            { instance_id: low, priority: 'Normal', max: 1 },
          ],
        },
      ]);
      const window = { window_seconds: 90, window_end: expect.any(String) };
      expect(body.rates).toEqual([{ tenant_id: TENANT, key: 'mail', count: 1, max: 4, ...window }]);
      expect((await get('/limits?concurrency_key=other')).concurrency).toEqual([]);
      const foreign = await runs.api.call('GET', '/limits', { tenant: OTHER_TENANT });
      expect(foreign.body).toEqual({ concurrency: [], rates: [] });
    });
  });

  describe('GET /instances/{id}/signals [DASHBOARD A14]', () => {
    it('tells what came of each signal, newest first [SIG-9]', async () => {
      const id = await run(step('ask', { wait_for_input: { prompt: '?' } }));
      await runs.api.until(id, 'waiting');
      const send = (type: JsonObject | string, payload: JsonObject | null = null) =>
        post(`/instances/${id}/signals`, { signal_type: type, payload });
      await send('update_context', { data: { depot: 'north' } });
      await send('update_context', { no: 'data' });
      await send({ custom: 'hello' });
      await send({ custom: 'human_input:ask' }, { value: 'maybe' });
      await send({ custom: 'human_input:ask' }, { value: 'yes' });
      await runs.api.until(id, 'completed');
      const rows = await get(`/instances/${id}/signals`);
      expect(rows.map((row: Body) => [row.signal_type, row.disposition])).toEqual([
        [{ custom: 'human_input:ask' }, 'applied'],
        [{ custom: 'human_input:ask' }, 'rejected'],
        [{ custom: 'hello' }, 'no_effect'],
        ['update_context', 'rejected'],
        ['update_context', 'applied'],
      ]);
      expect(rows[0]).toMatchObject({ instance_id: id, payload: { value: 'yes' }, delivered: true });
      expect(await get(`/instances/${id}/signals?limit=1&offset=4`)).toMatchObject([
        { disposition: 'applied' },
      ]);
      expect((await runs.api.call('GET', `/instances/${NOWHERE}/signals`)).status).toBe(404);
    });
  });

  describe('the list of instances', () => {
    const waits = async (query: string): Promise<Body> =>
      (await get(`/instances?${query}`)).items.map((item: Body) => item.waits_for);

    it('tells what each waits for, people first [DASHBOARD A1]', async () => {
      const branches = [
        [step('nap', { handler: 'sleep', params: { duration_ms: HOUR } })],
        [step('ask', { wait_for_input: { prompt: '?' } })],
        [step('lookup', { handler: 'parcel_lookup' })],
      ];
      await run({ type: 'parallel', id: 'all', branches });
      expect(await waits('state=running')).toEqual([{ reason: 'input', block_id: 'ask', wake_at: null }]);
      await run(step('lookup', { handler: 'parcel_lookup' }));
      expect(await waits('state=waiting')).toEqual([{ reason: 'worker', block_id: 'lookup', wake_at: null }]);
      await run({
        type: 'loop',
        id: 'poll',
        condition: 'true',
        max_iterations: 2,
        poll_interval: 3600,
        body: [step('look')],
      });
      expect(await waits('state=scheduled')).toEqual([
        { reason: 'poll', block_id: 'poll', wake_at: expect.any(String) },
      ]);
      await run(step('a'));
      expect(await waits('state=completed')).toEqual([null]);
    });

    it('tells of a start to come and of a slot that is not free [DASHBOARD A1]', async () => {
      const sequence = await publish(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      await start(sequence, { next_fire_at: at(START_MS + HOUR) });
      expect(await waits('state=scheduled')).toEqual([
        { reason: 'start', block_id: null, wake_at: at(START_MS + HOUR) },
      ]);
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      await start(sequence, key);
      await start(sequence, key);
      expect(await waits('state=scheduled&concurrency_key=printer')).toMatchObject([
        { reason: 'concurrency' },
      ]);
    });
  });

  describe('the input of an instance [DASHBOARD A8]', () => {
    it('stays as it came, whatever becomes of the data', async () => {
      const sequence = await publish(step('ask', { wait_for_input: { prompt: '?' } }));
      const input = { parcel: 'PX-9004', __proto__x: [1, null] };
      const id = await start(sequence, { context: { data: input } });
      await post(`/instances/${id}/signals`, {
        signal_type: 'update_context',
        payload: { data: { parcel: 'other' } },
      });
      await runs.api.time.calm();
      const shown = await get(`/instances/${id}`);
      expect(shown.context.data.parcel).toBe('other');
      expect(shown.input).toEqual(input);
    });

    it('of a child is what its parent gave it', async () => {
      const child = await publish(step('ask', { wait_for_input: { prompt: '?' } }));
      const name = (await get(`/sequences/${child}`)).name;
      const id = await run({ type: 'sub_sequence', id: 'sub', sequence_name: name, input: { no: 7 } });
      const [{ id: childId }] = await get(`/instances/${id}/children`);
      expect((await get(`/instances/${childId}`)).input).toMatchObject({ no: 7 });
    });
  });

  describe('the decision of a node', () => {
    it('is the index of the route or winner, or the id of the child [DASHBOARD A1]', async () => {
      const child = await publish(step('c'));
      const name = (await get(`/sequences/${child}`)).name;
      const router = {
        ...{ type: 'router', id: 'route', default: [step('z')] },
        routes: [{ condition: 'false', blocks: [step('x')] }],
      };
      const race = {
        ...{ type: 'race', id: 'race' },
        branches: [[step('slow', { handler: 'sleep', params: { duration_ms: HOUR } })], [step('quick')]],
      };
      const id = await run(router, race, { type: 'sub_sequence', id: 'sub', sequence_name: name });
      await runs.api.until(id, 'completed');
      const nodes: Body = await get(`/instances/${id}/tree`);
      const decision = (block: string) => nodes.find((node: Body) => node.block_id === block).decision;
      expect([decision('route'), decision('race')]).toEqual([1, 1]);
    });
  });

  describe('the nodes on the stream of an instance [DASHBOARD A2]', () => {
    const follow = async (id: string, last = ''): Promise<readonly Body[]> => {
      const headers = { 'last-event-id': last };
      const path = `/api/v1/instances/${id}/stream?include=nodes`;
      return readEvents((await runs.api.send('GET', path, { headers })).text);
    };

    it('are not told again to a reader that knows them', async () => {
      const id = await run(step('first'), step('second'));
      await runs.api.until(id, 'completed');
      const all = await follow(id);
      expect(all.map(({ event }) => event)).toEqual(['output', 'output', 'node', 'node', 'state', 'done']);
      const [, , one, two] = all;
      expect((await follow(id, two.id)).map(({ event }) => event)).toEqual(['state', 'done']);
      expect((await follow(id, one.id)).map(({ event }) => event)).toEqual(['node', 'node', 'state', 'done']);
    });

    it('are told once more when one of them has changed since', async () => {
      const id = await run(step('first'), step('ask', { wait_for_input: { prompt: '?' } }));
      await runs.api.until(id, 'waiting');
      await post(`/instances/${id}/signals`, {
        signal_type: 'custom:human_input:ask',
        payload: { value: 'yes' },
      });
      await runs.api.until(id, 'completed');
      const before = (await follow(id)).find(({ event }) => event === 'output')?.id;
      const told = (await follow(id, before)).filter(({ event }) => event === 'node');
      expect(told.map(({ data }) => [data.block_id, data.state])).toEqual([
        ['first', 'completed'],
        ['ask', 'completed'],
      ]);
    });
  });
}
