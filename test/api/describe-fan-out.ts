import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import type { Body } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { document, published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

let api: LiveApi;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

const each = (body: readonly JsonObject[], extra: JsonObject = {}): JsonObject => ({
  type: 'for_each',
  id: 'each',
  collection: 'xs',
  body,
  ...extra,
});

const failIf = (id: string, when: string): JsonObject =>
  step(id, { handler: 'fail', when, params: { message: 'no', retryable: false } });

async function start(blocks: readonly JsonObject[], data: JsonObject): Promise<string> {
  const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks });
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, { context: { data } }) });
  expect(reply.status).toBe(201);
  return reply.body.id as string;
}

const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
const answer = (id: string, payload: JsonObject) =>
  api.call('POST', `/instances/${id}/signals`, {
    body: { signal_type: { custom: 'human_input:ask' }, payload },
  });
const stateOf = (tree: Body, blockId: string): string =>
  tree.find((node: Body) => node.block_id === blockId)?.state;

/** Registers the acceptance scenarios of fan-out over one kind of store. */
export function describeFanOut(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('fan-out over HTTP', () => {
    it('keeps the approval of item 2 open after those of 3 and 1 were given (B15)', async () => {
      const ask = step('ask', { wait_for_input: { prompt: 'Item {{ item }}?' } });
      const id = await start([each([ask], { concurrency: 3 })], { xs: [1, 2, 3] });
      await api.until(id, 'waiting');
      const open = await get(`/approvals?instance_id=${id}`);
      expect(open.items.map((item: Body) => [item.block_id, item.iteration, item.prompt]).sort()).toEqual([
        ['ask', 'each:0', 'Item 1?'],
        ['ask', 'each:1', 'Item 2?'],
        ['ask', 'each:2', 'Item 3?'],
      ]);
      await answer(id, { value: 'yes', iteration: 'each:2' });
      await answer(id, { value: 'yes', iteration: 'each:0' });
      await api.time.until(async () => (await get(`/approvals?instance_id=${id}`)).total === 1, 60_000);
      expect((await api.until(id, 'waiting')).state).toBe('waiting');
      const left = await get(`/approvals?instance_id=${id}`);
      expect(left.items.map((item: Body) => item.iteration)).toEqual(['each:1']);
      await answer(id, { value: 'perhaps', iteration: 'each:1' });
      const explained = async () => (await get(`/instances/${id}/explain`)).waiting_on[0];
      await api.time.until(async () => (await explained()).detail.includes('was not taken'), 60_000);
      expect(await explained()).toMatchObject({ kind: 'gate', iteration: 'each:1' });
      expect((await get(`/instances/${id}/tree?iteration=each:2`))[1]).toMatchObject({
        block_id: 'ask',
        state: 'completed',
        iteration: 'each:2',
      });
      expect((await get(`/instances/${id}/tree`))[1]).toMatchObject({
        state: 'waiting',
        iteration: 'each:1',
      });
      await answer(id, { value: 'no', iteration: 'each:1' });
      expect((await api.until(id, 'completed')).context.data).toEqual({ xs: [1, 2, 3], ask: 'no' });
    });

    it('cancels what runs and what waits at the first failure with fail_fast (B29)', async () => {
      const branches = [
        [step('late', { delay: { duration: 50 } }), failIf('a', 'true')],
        [step('b', { handler: 'sleep', params: { duration_ms: 60_000 } })],
        [step('c', { handler: 'probe' })],
      ];
      const id = await start([{ type: 'parallel', id: 'p', branches, fail_fast: true }], {});
      await api.until(id, 'failed');
      const tree = await get(`/instances/${id}/tree`);
      expect(['p', 'a', 'b', 'c'].map((blockId) => stateOf(tree, blockId))).toEqual([
        'failed',
        'failed',
        'cancelled',
        'cancelled',
      ]);
      const tasks = await get('/workers/tasks?handler_name=probe');
      expect((tasks.items ?? tasks).filter((task: Body) => task.state !== 'failed')).toEqual([]);
      const poll = await api.call('POST', '/workers/tasks/poll', {
        body: { handler_name: 'probe', worker_id: 'w' },
      });
      expect(poll.body.length ?? 0).toBe(0);
    });

    it('completes over [] with [], and takes null and an object for an empty collection (B31)', async () => {
      for (const xs of [[], null, { a: 1 }]) {
        const id = await start([each([step('a')], { collect: true }), step('z')], { xs });
        await api.until(id, 'completed');
        const outputs = await get(`/instances/${id}/outputs`);
        expect(outputs.map((row: Body) => [row.block_id, row.output])).toEqual([
          ['each', []],
          ['z', {}],
        ]);
      }
    });

    it('keeps the outputs of one step apart for each path and item, and refuses a second step of its name (B33)', async () => {
      const inner = { type: 'loop', id: 'twice', condition: 'true', max_iterations: 2, body: [step('a')] };
      const id = await start([each([inner], { concurrency: 2 })], { xs: [1, 2] });
      await api.until(id, 'completed');
      const outputs = await get(`/instances/${id}/outputs`);
      const paths = outputs.filter((row: Body) => row.block_id === 'a').map((row: Body) => row.iteration);
      expect(paths.sort()).toEqual(['each:0/twice:0', 'each:0/twice:1', 'each:1/twice:0', 'each:1/twice:1']);
      const twice = document({
        blocks: [{ type: 'parallel', id: 'p', branches: [[step('a')], [step('a')]] }],
      });
      expect(await api.call('POST', '/sequences', { body: twice })).toMatchObject({ status: 400 });
    });

    for (const concurrency of [1, 3]) {
      it(`runs a loop of two in each of three items six times, ${concurrency} at once (K21)`, async () => {
        const inner = { type: 'loop', id: 'twice', condition: 'true', max_iterations: 2, body: [step('a')] };
        const id = await start([each([inner], { concurrency })], { xs: [1, 2, 3] });
        await api.until(id, 'completed');
        const outputs = await get(`/instances/${id}/outputs`);
        expect(outputs.filter((row: Body) => row.block_id === 'a')).toHaveLength(6);
      });

      it(`catches item 2 of 3 in its own body, ${concurrency} at once (K25)`, async () => {
        const body = {
          type: 'try_catch',
          id: 'try',
          try_block: [failIf('a', 'item == 2')],
          catch_block: [step('caught')],
        };
        const id = await start([each([body], { concurrency })], { xs: [1, 2, 3] });
        expect((await api.until(id, 'completed', 'failed')).state).toBe('completed');
        const outputs = await get(`/instances/${id}/outputs`);
        const caught = outputs.filter((row: Body) => row.block_id === 'caught');
        expect(caught.map((row: Body) => row.iteration)).toEqual(['each:1']);
      });
    }

    it('collects the last outputs in index order, with the error of a failed item (RULINGS B25)', async () => {
      const double = step('double', { handler: 'transform', params: { got: '{{ item }}' } });
      const body = [failIf('bad', 'item == 2'), double];
      const settings = { concurrency: 2, on_item_failure: 'continue', collect: true };
      const id = await start([each(body, settings), step('z')], { xs: [1, 2, 3] });
      await api.until(id, 'completed', 'failed');
      const outputs = await get(`/instances/${id}/outputs`);
      const row = outputs.findLast((one: Body) => one.block_id === 'each');
      expect(row.output).toEqual([
        { got: 1 },
        { error: expect.objectContaining({ block_id: 'bad', message: expect.any(String) }) },
        { got: 3 },
      ]);
    });

    it('goes on with the failed and the unfinished items after a retry (RULINGS B25)', async () => {
      const body = [step('a'), failIf('bad', 'item == data.bad'), step('b')];
      const id = await start([each(body, { concurrency: 2, collect: true })], { xs: [1, 2, 3, 4], bad: 3 });
      await api.until(id, 'failed');
      await api.call('PATCH', `/instances/${id}/context?mode=merge`, {
        body: { context: { data: { bad: 0 } } },
      });
      expect((await api.call('POST', `/instances/${id}/retry`)).status).toBe(200);
      await api.until(id, 'completed');
      const outputs = await get(`/instances/${id}/outputs`);
      const ran = outputs.filter((one: Body) => one.block_id === 'a').map((one: Body) => one.iteration);
      expect(ran.sort()).toEqual(['each:0', 'each:1', 'each:2', 'each:3']);
    });

    it('shows the current item in the context while one at a time is worked on, and none when several are [ITEM-3]', async () => {
      const ask = step('ask', { wait_for_input: { prompt: '?' } });
      const one = await start([each([ask])], { xs: ['first', 'second'], item: 'stored' });
      expect((await api.until(one, 'waiting')).context.data).toMatchObject({ item: 'first' });
      const several = await start([each([ask], { concurrency: 2 })], { xs: ['first', 'second'] });
      expect((await api.until(several, 'waiting')).context.data).toEqual({ xs: ['first', 'second'] });
      const beside = { ...each([{ ...ask, id: 'ask2' }]), id: 'other' };
      const both = await start([{ type: 'parallel', id: 'p', branches: [[each([ask])], [beside]] }], {
        xs: [1],
      });
      expect((await api.until(both, 'waiting')).context.data).toEqual({ xs: [1] });
      await answer(one, { value: 'yes' });
      await answer(one, { value: 'yes' });
      expect((await api.until(one, 'completed')).context.data).toMatchObject({ item: 'stored' });
    });

    it('gives each item a worker task of its own, which names the item (RULINGS B9)', async () => {
      const pack = step('pack', { handler: 'pack_box', params: { n: '{{ item }}' } });
      const id = await start([each([pack], { concurrency: 2, collect: true })], { xs: [1, 2, 3] });
      await api.until(id, 'waiting');
      const done: string[] = [];
      for (let polls = 0; polls < 10 && done.length < 3; polls += 1) {
        const polled = await api.call('POST', '/workers/tasks/poll', {
          body: { handler_name: 'pack_box', worker_id: 'w-1', limit: 10 },
        });
        for (const task of polled.body) {
          done.push(`${task.block_id}@${task.iteration}`);
          const report = {
            worker_id: 'w-1',
            claim_epoch: task.claim_epoch,
            output: { packed: task.params.n },
          };
          const reply = await api.call('POST', `/workers/tasks/${task.id}/complete`, { body: report });
          expect(reply.status).toBe(200);
        }
        await api.time.until(() => false, 1000);
      }
      expect(done.sort()).toEqual(['pack@each:0', 'pack@each:1', 'pack@each:2']);
      await api.until(id, 'completed');
      const outputs = await get(`/instances/${id}/outputs`);
      expect(outputs.findLast((one: Body) => one.block_id === 'each').output).toEqual(
        [1, 2, 3].map((packed) => ({ packed })),
      );
    });

    it('says nothing of unsupported members any more when a fan-out is published', async () => {
      const blocks = [
        each([step('a')], {
          concurrency: 5,
          on_item_failure: 'continue',
          tolerate: { count: 2 },
          collect: true,
        }),
      ];
      const reply = await api.call('POST', '/sequences', {
        body: document({ blocks, name: `s-${nextId()}` }),
      });
      expect(reply.body.warnings ?? []).toEqual([]);
    });
  });
}
