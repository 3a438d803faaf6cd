import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

let api: LiveApi;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

async function start(blocks: readonly JsonObject[], overrides: JsonObject = {}): Promise<string> {
  const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });
  expect(reply.status).toBe(201);
  return reply.body.id as string;
}

const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
const signal = (id: string, type: unknown, payload: unknown = null) =>
  api.call('POST', `/instances/${id}/signals`, { body: { signal_type: type, payload } });

/** Registers the tests of whole runs over one kind of store. */
export function describeLiveRuns(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('a run over HTTP', () => {
    it('shows outputs, tree, audit and timeline when it has completed', async () => {
      const double = step('double', { handler: 'transform', params: { twice: '{{ data.n * 2 }}' } });
      const id = await start([step('first'), double], { context: { data: { n: 21 } } });
      const done = await api.until(id, 'completed', 'failed');
      expect(done.state).toBe('completed');
      expect(done.context.runtime).toMatchObject({ total_steps_executed: 2, current_step: 'double' });
      const outputs = await get(`/instances/${id}/outputs`);
      expect(outputs.map((row: Body) => [row.block_id, row.output_ref, row.attempt])).toEqual([
        ['first', null, 0],
        ['double', null, 0],
      ]);
      const tree = await get(`/instances/${id}/tree`);
      expect(tree.map((node: Body) => [node.block_id, node.state, node.block_type, node.parent_id])).toEqual([
        ['first', 'completed', 'step', null],
        ['double', 'completed', 'step', null],
      ]);
      expect(await get(`/instances/${id}/audit`)).toMatchObject([
        { from_state: 'running', to_state: 'completed' },
      ]);
      expect((await get(`/instances/${id}/timeline`)).entries).toHaveLength(2);
    });

    it('waits for an answer, lists it, and goes on with it', async () => {
      const ask = step('ask', { wait_for_input: { prompt: 'Refund {{ data.no }}?', timeout: 3_600_000 } });
      const id = await start([ask, step('after')], { context: { data: { no: 'PX-1' } } });
      await api.until(id, 'waiting');
      expect(await get('/approvals')).toMatchObject({
        total: 1,
        items: [{ instance_id: id, block_id: 'ask', prompt: 'Refund PX-1?', timeout_seconds: 3600 }],
      });
      expect((await get(`/instances/${id}/explain`)).waiting_on).toMatchObject([
        { kind: 'gate', block_id: 'ask' },
      ]);
      await signal(id, { custom: 'human_input:ask' }, { value: 'maybe' });
      expect((await get('/approvals')).total).toBe(1);
      await signal(id, { custom: 'human_input:ask' }, { value: 'yes' });
      expect((await api.until(id, 'completed')).context.data).toEqual({ no: 'PX-1', ask: 'yes' });
      expect((await get('/approvals')).total).toBe(0);
      expect((await signal(id, 'pause')).status).toBe(400);
    });

    it('hands a step to a worker and takes its result', async () => {
      const id = await start(
        [step('lookup', { handler: 'parcel_lookup', params: { no: '{{ data.no }}' } })],
        {
          context: { data: { no: 'PX-1' } },
        },
      );
      await api.until(id, 'waiting');
      const poll = { handler_name: 'parcel_lookup', worker_id: 'w-1' };
      const [task] = (await api.call('POST', '/workers/tasks/poll', { body: poll })).body;
      expect(task).toMatchObject({ instance_id: id, params: { no: 'PX-1' }, claim_epoch: 1 });
      const claim = { worker_id: 'w-1', claim_epoch: 1 };
      const complete = (output: unknown) =>
        api.call('POST', `/workers/tasks/${task.id}/complete`, { body: { ...claim, output } });
      expect((await complete({ cents: 4100 })).status).toBe(200);
      expect((await api.until(id, 'completed')).context.data).toEqual({ no: 'PX-1', cents: 4100 });
      expect((await complete({ cents: 1 })).status).toBe(409);
    });

    it('offers a task again after a failure that may be retried', async () => {
      const retry = { max_attempts: 2, initial_backoff: 1000, max_backoff: 1000 };
      const id = await start([step('lookup', { handler: 'parcel_lookup', retry })]);
      await api.until(id, 'waiting');
      const poll = async () => {
        const body = { handler_name: 'parcel_lookup', worker_id: 'w-1' };
        return (await api.call('POST', '/workers/tasks/poll', { body })).body[0];
      };
      const fail = async (retryable: boolean) => {
        const { id: taskId } = await poll();
        const body = { worker_id: 'w-1', claim_epoch: 1, message: 'upstream', retryable };
        return (await api.call('POST', `/workers/tasks/${taskId}/fail`, { body })).status;
      };
      expect(await fail(true)).toBe(200);
      expect((await get(`/instances/${id}`)).state).toBe('scheduled');
      expect(await poll()).toBeUndefined();
      await api.until(id, 'waiting');
      expect(await fail(true)).toBe(200);
      await api.until(id, 'failed');
      expect(
        (await get(`/instances/${id}/outputs?include=markers`)).map((row: Body) => row.output_ref),
      ).toEqual(['__retry__', '__error__']);
      expect((await get('/instances/dlq')).map((one: Body) => one.id)).toEqual([id]);
    });

    it('fails, is explained, and goes on after a retry', async () => {
      const guard = step('guard', {
        handler: 'assert',
        params: { condition: 'data.ok', message: 'not yet' },
      });
      const id = await start([step('first'), guard]);
      await api.until(id, 'failed');
      expect((await get(`/instances/${id}/explain`)).summary).toContain("failed in 'guard'");
      await api.call('PATCH', `/instances/${id}/context?mode=merge`, {
        body: { context: { data: { ok: true } } },
      });
      expect(await api.call('POST', `/instances/${id}/retry`)).toMatchObject({
        status: 200,
        body: { id, state: 'scheduled' },
      });
      await api.until(id, 'completed');
      const outputs = await get(`/instances/${id}/outputs`);
      expect(outputs.filter((row: Body) => row.block_id === 'first')).toHaveLength(1);
      expect((await api.call('POST', `/instances/${id}/retry`)).status).toBe(400);
    });

    it('is paused, resumed and cancelled by hand', async () => {
      const id = await start([
        step('nap', { handler: 'sleep', params: { duration_ms: 600_000 } }),
        step('after'),
      ]);
      const patch = (state: string) => api.call('PATCH', `/instances/${id}/state`, { body: { state } });
      expect((await patch('paused')).status).toBe(200);
      expect((await get(`/instances/${id}`)).state).toBe('paused');
      expect((await patch('paused')).status).toBe(400);
      await signal(id, 'resume');
      expect(['running', 'scheduled']).toContain((await get(`/instances/${id}`)).state);
      expect((await patch('cancelled')).status).toBe(200);
      expect((await get(`/instances/${id}`)).state).toBe('cancelled');
      expect((await patch('scheduled')).status).toBe(400);
      const tree = await get(`/instances/${id}/tree`);
      expect(tree.map((node: Body) => node.state)).toEqual(['cancelled', 'cancelled']);
    });

    it('starts on time when its time lies ahead', async () => {
      const id = await start([step('first')], { next_fire_at: '2027-02-11T08:00:10Z' });
      expect((await get(`/instances/${id}`)).state).toBe('scheduled');
      expect(await get(`/instances/${id}/tree`)).toEqual([]);
      await api.until(id, 'completed');
      expect(api.time.now).toBeLessThan(Date.parse('2027-02-11T08:00:11Z'));
    });

    it('takes signals while it sleeps', async () => {
      const id = await start([step('nap', { delay: { duration: 600_000 } }), step('after')]);
      await signal(id, 'update_context', { data: { a: 1 } });
      expect((await get(`/instances/${id}`)).context.data).toEqual({ a: 1 });
      await signal(id, 'cancel');
      expect((await get(`/instances/${id}`)).state).toBe('cancelled');
    });

    it('shows every node of a nested run in document order', async () => {
      const route = { condition: 'data.n > 1', blocks: [step('big')] };
      const id = await start(
        [
          { type: 'parallel', id: 'both', branches: [[step('a')], [step('b'), step('c')]] },
          { type: 'router', id: 'way', routes: [route], default: [step('small')] },
        ],
        { context: { data: { n: 2 } } },
      );
      await api.until(id, 'completed');
      const tree = await get(`/instances/${id}/tree`);
      expect(tree.map((node: Body) => [node.block_id, node.state, node.branch_index])).toEqual([
        ['both', 'completed', null],
        ['a', 'completed', 0],
        ['b', 'completed', 1],
        ['c', 'completed', 1],
        ['way', 'completed', null],
        ['big', 'completed', 0],
        ['small', 'skipped', 1],
      ]);
      const ids: string[] = tree.map((node: Body) => node.id);
      expect(ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id)).toBe(true);
      expect(tree[1].parent_id).toBe(tree[0].id);
    });

    it('lists its children, and ends when a sequence starts itself for ever', async () => {
      const blocks = [{ type: 'sub_sequence', id: 'again', sequence_name: 'endless' }];
      const sequenceId = await published(api as never, { name: 'endless', blocks });
      const { id } = (await api.call('POST', '/instances', { body: startBody(sequenceId) })).body;
      await api.until(id, 'failed');
      const children = await get(`/instances/${id}/children`);
      expect(children).toMatchObject([{ parent_instance_id: id, state: 'failed' }]);
      expect((await get('/instances?limit=1000')).items.length).toBeLessThanOrEqual(17);
    });

    it('completes a batch that is larger than the process has room for', async () => {
      const sequenceId = await published(api as never);
      const instances = Array.from({ length: 300 }, () => startBody(sequenceId));
      expect((await api.call('POST', '/instances/batch', { body: { instances } })).body).toEqual({
        count: 300,
      });
      const open = async () =>
        (await get('/instances?state=scheduled,running&limit=1000')).items.length === 0;
      expect(await api.time.until(open, 5_000)).toBe(true);
      expect((await get('/instances?state=completed&limit=1000')).items).toHaveLength(300);
    });

    it('routes on the event of a GitHub webhook', async () => {
      const blocks = [
        {
          type: 'router',
          id: 'by_event',
          routes: [
            { condition: "config._trigger.event == 'push'", blocks: [step('pushed')] },
            { condition: "config._trigger.event == 'issues'", blocks: [step('issue')] },
          ],
        },
      ];
      await published(api as never, { name: 'from-github', blocks });
      const config = { signature: { scheme: 'github' } };
      const base = { tenant_id: TENANT, namespace: 'fulfilment', sequence_name: 'from-github', secret: 's' };
      await api.call('POST', '/triggers', { body: { ...base, slug: 'gh', config } });
      const raw = '{"action":"opened"}';
      const headers = {
        'x-hub-signature-256': `sha256=${createHmac('sha256', 's').update(raw).digest('hex')}`,
        'x-github-event': 'issues',
        'x-github-delivery': 'd-1',
      };
      const { body } = await api.call('POST', '/webhooks/gh', { raw, headers, tenant: null });
      await api.until(body.instance_id, 'completed');
      const outputs = await get(`/instances/${body.instance_id}/outputs`);
      expect(outputs.map((row: Body) => row.block_id)).toContain('issue');
      expect(outputs.map((row: Body) => row.block_id)).not.toContain('pushed');
    });
  });
}
