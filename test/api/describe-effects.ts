import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';
import { createRunCalls, gate, step } from './support/run-calls.ts';

let api: LiveApi;
const { start, get, post } = createRunCalls(() => api);

const charge = (id: string, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'charge', params: { url: 'https://pay.example/v1', amount: 7 }, ...extra });
const TWICE = { max_attempts: 2, initial_backoff: 100, max_backoff: 100 };

async function poll(): Promise<Body> {
  const reply = await post('/workers/tasks/poll', { handler_name: 'charge', worker_id: 'w-1', limit: 1 });
  return reply.body[0];
}
const report = (task: Body, verb: 'complete' | 'fail', body: JsonObject) =>
  post(`/workers/tasks/${task.id}/${verb}`, { worker_id: 'w-1', claim_epoch: task.claim_epoch, ...body });
const facts = async (id: string): Promise<readonly (readonly unknown[])[]> =>
  (await get(`/instances/${id}/effects`)).map(({ block_id, kind, state, attempt, epoch }: Body) => [
    block_id,
    kind,
    state,
    attempt,
    epoch,
  ]);

/** Registers the tests of effect receipts and artifacts over one kind of store. */
export function describeEffects(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh(), { requireTenantHeader: false });
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('effect receipts [API 5.4]', () => {
    it('follow an attempt from its offer to its result', async () => {
      const id = await start([step('before'), charge('pay', { retry: TWICE }), gate('ask')]);
      await api.until(id, 'waiting');
      expect(await facts(id)).toEqual([['pay', 'worker', 'prepared', 0, 1]]);
      const [offered] = await get(`/instances/${id}/effects`);
      const task = await poll();
      expect(await facts(id)).toEqual([['pay', 'worker', 'dispatched', 0, 1]]);
      await report(task, 'fail', { message: 'no line', retryable: true });
      await api.time.until(async () => (await get('/workers/tasks?state=pending')).length > 0, 60_000);
      expect(await facts(id)).toEqual([
        ['pay', 'worker', 'unknown', 0, 1],
        ['pay', 'worker', 'prepared', 1, 1],
      ]);
      const again = await poll();
      expect((await report(again, 'complete', { output: { receipt: 'r-1' } })).status).toBe(200);
      await api.time.until(async () => (await get('/approvals')).total > 0, 60_000);
      expect(await facts(id)).toEqual([
        ['pay', 'worker', 'unknown', 0, 1],
        ['pay', 'worker', 'committed', 1, 1],
      ]);
      const [first, second] = await get(`/instances/${id}/effects`);
      expect(first.id).toBe(offered.id);
      expect(second).toMatchObject({
        tenant_id: TENANT,
        instance_id: id,
        continuity_id: id,
        iteration: '',
        idempotency_key: task.idempotency_key,
        destination_fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        request_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        provider_receipt_id: null,
      });
      expect(second.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    });

    it('say what a saga has undone, and name each pass of a loop', async () => {
      const saga = {
        type: 'saga',
        id: 'trip',
        steps: [
          { id: 's1', action: charge('book'), compensation: charge('unbook') },
          { id: 's2', action: step('boom', { handler: 'fail', params: { message: 'no' } }) },
        ],
      };
      const id = await start(
        [
          { type: 'try_catch', id: 't', try_block: [saga], catch_block: [step('calm')] },
          { type: 'for_each', id: 'each', collection: 'data.list', body: [charge('one')] },
        ],
        { context: { data: { list: [1, 2] } } },
      );
      for (let count = 0; count < 4; count += 1) {
        await api.time.until(async () => (await get('/workers/tasks?state=pending')).length > 0, 60_000);
        await report(await poll(), 'complete', { output: {} });
      }
      await api.until(id, 'completed');
      expect((await facts(id)).map(([block, , state]) => [block, state])).toEqual([
        ['book', 'compensated'],
        ['unbook', 'committed'],
        ['one', 'committed'],
        ['one', 'committed'],
      ]);
      const all = await get(`/instances/${id}/effects`);
      expect(all.slice(2).map(({ iteration }: Body) => iteration)).toEqual(['each:0', 'each:1']);
      expect(new Set(all.map(({ id: one }: Body) => one)).size).toBe(4);
    });

    it('are those of the run itself: none of a dry run or of what a fork has copied', async () => {
      const dry = await start([charge('pay')], { dry_run: true });
      await api.until(dry, 'completed');
      expect(await facts(dry)).toEqual([]);
      const id = await start([charge('pay'), gate('ask')]);
      await api.until(id, 'waiting');
      await report(await poll(), 'complete', { output: {} });
      await api.time.until(async () => (await get('/approvals')).total > 0, 60_000);
      await api.time.until(() => false, 1_000);
      const fork = await post(`/instances/${id}/fork`, { from_block_id: 'ask' });
      expect(fork.status).toBe(201);
      expect(await facts(fork.body.id ?? fork.body.instance_id)).toEqual([]);
      expect(await facts(id)).toHaveLength(1);
    });

    it('need a tenant of the call or of the query', async () => {
      const id = await start([charge('pay')]);
      const free = (query: string) => api.call('GET', `/instances/${id}/effects${query}`, { tenant: null });
      expect(await free('')).toMatchObject({ status: 400 });
      expect((await free('')).body.error).toContain('missing field `tenant_id`');
      expect((await free(`?tenant_id=${TENANT}`)).status).toBe(200);
      expect((await free(`?tenant_id=${OTHER_TENANT}`)).status).toBe(404);
    });

    it('are the tenant’s alone', async () => {
      const id = await start([charge('pay')]);
      const read = (path: string, tenant: string) => api.call('GET', path, { tenant });
      expect((await read(`/instances/${id}/effects`, OTHER_TENANT)).status).toBe(404);
      expect((await read(`/instances/${id}/effects?tenant_id=${TENANT}`, OTHER_TENANT)).status).toBe(404);
      expect((await read(`/instances/${nextId()}/effects`, TENANT)).status).toBe(404);
    });
  });

  describe('artifacts over HTTP [API 5.4]', () => {
    it('are listed with their keys and sent as files', async () => {
      const keep = step('keep', {
        handler: 'blob_put',
        params: { text: '<b>Grüße</b>', content_type: 'text/html' },
      });
      const id = await start([keep]);
      await api.until(id, 'completed');
      const { items } = await get(`/instances/${id}/artifacts`);
      const [output] = await get(`/instances/${id}/outputs`);
      expect(items).toEqual([
        {
          key: output.output.key,
          size: 14,
          uri: `artifact://${output.output.key}`,
          content_type: 'text/html',
          sha256: output.output.artifact.sha256,
        },
      ]);
      const path = `/artifacts/${output.output.key}`;
      const file = await api.call('GET', path);
      expect(file).toMatchObject({ status: 200, text: '<b>Grüße</b>' });
      expect(Object.fromEntries(file.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      });
      const typed = await api.call('GET', `${path}?content_type=text/html;%20charset=utf-8`);
      expect(typed.headers.get('content-type')).toBe('text/html; charset=utf-8');
      for (const type of ['html', 'text/html%0D%0AX-A:%201', 'text/', '']) {
        expect((await api.call('GET', `${path}?content_type=${type}`)).status).toBe(400);
      }
      expect((await api.call('GET', path, { tenant: OTHER_TENANT })).status).toBe(404);
      expect((await api.call('GET', `/instances/${id}/artifacts`, { tenant: OTHER_TENANT })).status).toBe(
        404,
      );
      expect((await api.call('GET', `/artifacts/${id}/none`)).status).toBe(404);
      expect((await api.call('GET', `/artifacts/${nextId()}/none`)).status).toBe(404);
      expect((await api.call('GET', '/artifacts/here/none')).status).toBe(400);
    });

    it('are an empty list for a run that has kept nothing', async () => {
      const id = await start([step('a')]);
      expect(await get(`/instances/${id}/artifacts`)).toEqual({ items: [] });
    });
  });
}
