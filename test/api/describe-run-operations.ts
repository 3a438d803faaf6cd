import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import type { Body, Reply } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';
import { createRunCalls, fragile, gate, says, step } from './support/run-calls.ts';

let api: LiveApi;

const { start, get, post, resume, shown, treeOf, signal, expectVerified } = createRunCalls(() => api);

/** Registers the tests of resume-from and of earlier runs over one kind of store. */
export function describeRunOperations(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('resume-from over HTTP', () => {
    it('goes on from a root block; what stands before it stays [OP-5] [OP-6]', async () => {
      const id = await start([step('a'), fragile('b'), step('c')]);
      await api.until(id, 'failed');
      const before = await get(`/instances/${id}`);
      const reply = await resume(id, 'b', { context: { healed: true } });
      expect([reply.status, reply.body]).toEqual([
        200,
        { id, state: 'scheduled', resumed_from: 'b', iteration: '', outputs_deleted: 1, signals_enqueued: 0 },
      ]);
      const done = await api.until(id, 'completed', 'failed');
      expect(done.state).toBe('completed');
      expect(done.context.data).toEqual({ healed: true });
      expect(done.context.runtime.run_id).not.toBe(before.context.runtime.run_id);
      expect(await shown(id)).toEqual(['a', 'b', 'c']);
      await expectVerified(id);
    });

    it('takes no body, and context in the shape of a context [OP-5]', async () => {
      const id = await start([step('a'), fragile('b')]);
      await api.until(id, 'failed');
      expect((await resume(id, 'a', { context: { data: { healed: 1 } } })).status).toBe(200);
      expect((await api.until(id, 'completed', 'failed')).context.data).toEqual({ healed: 1 });
      expect((await api.call('POST', `/instances/${id}/resume-from/a`)).body).toMatchObject({
        outputs_deleted: 2,
      });
      await api.until(id, 'completed');
      expect(await shown(id)).toEqual(['a', 'b']);
    });

    it('is refused while the run is running or waiting, and for what is unknown (G19) [OP-5]', async () => {
      const id = await start([step('a'), gate('b'), step('c')]);
      await api.until(id, 'waiting');
      const refused = await resume(id, 'b');
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('waiting')]);
      await signal(id, { custom: 'human_input:b' }, { value: 'yes' });
      await api.until(id, 'completed');
      expect((await resume(id, 'zebra')).status).toBe(400);
      expect((await resume(id, 'a', { context: [1] })).status).toBe(400);
      expect((await resume(nextId(), 'a')).status).toBe(404);
      expect((await resume(id, 'a', { input: 1, output: 2 })).status).toBe(400);
      expect((await resume(id, 'a', { iteration: 'l:0' })).status).toBe(400);
      expect(await shown(id)).toEqual(['a', 'b', 'b', 'c']);
    });

    it('queues signals as the first facts of the new run [OP-6]', async () => {
      const id = await start([step('a'), gate('b')]);
      await api.until(id, 'waiting');
      await signal(id, 'cancel');
      await api.until(id, 'cancelled');
      const signals = [
        { signal_type: 'update_context', payload: { data: { n: 1 } } },
        { signal_type: { custom: 'human_input:b' }, payload: { value: 'yes' } },
      ];
      expect((await resume(id, 'a', { signals })).body).toMatchObject({ signals_enqueued: 2 });
      const done = await api.until(id, 'completed', 'failed', 'waiting');
      expect([done.state, done.context.data]).toEqual(['completed', { n: 1, b: 'yes' }]);
    });

    it('goes back inside composites and into an earlier pass of a loop', async () => {
      const body = [says('x', '{{ data.word }}'), { ...fragile('y'), when: 'outputs.l._iterations == 2' }];
      const loop = { type: 'loop', id: 'l', condition: 'true', max_iterations: 3, body };
      const other = [step('z')];
      const id = await start([{ type: 'parallel', id: 'p', branches: [[loop], other] }], {
        context: { data: { word: 'old' } },
      });
      await api.until(id, 'failed');
      expect((await resume(id, 'x', { iteration: 'l:9' })).body.error).toContain('l');
      const reply = await resume(id, 'x', { iteration: 'l:1', context: { word: 'new', healed: true } });
      expect(reply.body).toMatchObject({ resumed_from: 'x', iteration: 'l:1' });
      expect((await api.until(id, 'completed', 'failed')).state).toBe('completed');
      const outputs = await get(`/instances/${id}/outputs`);
      const words = outputs.filter((row: Body) => row.block_id === 'x').map((row: Body) => row.output.value);
      expect(words).toEqual(['old', 'new', 'new']);
      expect(outputs.filter((row: Body) => row.block_id === 'z')).toHaveLength(1);
      await expectVerified(id);
    });

    it('runs a step with the input that a person gives it', async () => {
      const id = await start([says('a', 'old'), says('b', '{{ outputs.a.value }}')]);
      await api.until(id, 'completed');
      await resume(id, 'a', { input: { value: 'by hand' } });
      await api.until(id, 'completed');
      const outputs = await get(`/instances/${id}/outputs`);
      expect(outputs.map((row: Body) => row.output)).toEqual([{ value: 'by hand' }, { value: 'by hand' }]);
    });

    it('takes the output that a person gives a step, and goes on behind it', async () => {
      const schema = { type: 'object', required: ['value'] };
      const id = await start([
        { ...fragile('a'), output_schema: schema },
        says('b', '{{ outputs.a.value }}'),
      ]);
      await api.until(id, 'failed');
      expect((await resume(id, 'a', { output: { wrong: 1 } })).status).toBe(422);
      expect((await resume(id, 'a', { output: { value: 'by hand' } })).status).toBe(200);
      expect((await api.until(id, 'completed', 'failed')).state).toBe('completed');
      expect((await get(`/instances/${id}/outputs`)).map((row: Body) => row.output)).toEqual([
        { value: 'by hand' },
        { value: 'by hand' },
      ]);
      await expectVerified(id);
    });

    it('passes over a block that failed when a later one is named [OP-6] [LIST-1]', async () => {
      const id = await start([step('a'), fragile('b'), step('c'), step('d')]);
      await api.until(id, 'failed');
      expect((await resume(id, 'd')).status).toBe(200);
      expect((await api.until(id, 'completed', 'failed')).state).toBe('completed');
      expect(await treeOf(id)).toEqual({ a: 'completed', b: 'failed', c: 'skipped', d: 'completed' });
      await expectVerified(id);
    });

    /** A worker works on `w`, a timer runs, and the run is paused. */
    async function pausedRun(): Promise<{ readonly id: string; readonly task: Body }> {
      const task = { type: 'step', id: 'w', handler: 'somebody' };
      const later = step('d', { delay: { duration: 120_000 } });
      const branches = [
        [step('x'), later],
        [step('y'), task],
      ];
      const id = await start([step('a'), { type: 'parallel', id: 'p', branches }]);
      await api.until(id, 'scheduled');
      const poll = { handler_name: 'somebody', worker_id: 'w-1', limit: 1 };
      const [claimed] = (await post('/workers/tasks/poll', poll)).body;
      await api.call('PATCH', `/instances/${id}/state`, { body: { state: 'paused' } });
      expect((await get(`/instances/${id}`)).state).toBe('paused');
      return { id, task: claimed };
    }

    const report = (task: Body): Promise<Reply> => {
      const done = { worker_id: 'w-1', claim_epoch: task.claim_epoch, output: { ok: true } };
      return post(`/workers/tasks/${task.id}/complete`, done);
    };

    it('keeps what is in flight beside the block of a paused run', async () => {
      const { id, task } = await pausedRun();
      expect((await resume(id, 'x')).status).toBe(200);
      await api.until(id, 'scheduled');
      expect((await report(task)).status).toBe(200);
      expect((await api.until(id, 'completed')).state).toBe('completed');
      expect((await shown(id)).toSorted()).toEqual(['a', 'd', 'w', 'x', 'y']);
      await expectVerified(id);
    });

    it('closes the worker task of what it goes back to: a late report is 409', async () => {
      const { id, task } = await pausedRun();
      expect((await resume(id, 'y')).status).toBe(200);
      await api.until(id, 'scheduled');
      expect((await report(task)).status).toBe(409);
      const poll = { handler_name: 'somebody', worker_id: 'w-1', limit: 1 };
      const [again] = (await post('/workers/tasks/poll', poll)).body;
      expect(again.idempotency_key).not.toBe(task.idempotency_key);
    });
  });

  describe('earlier runs over HTTP', () => {
    it('shows the rows of all runs in the timeline, and the tree of an earlier run', async () => {
      const id = await start([step('a'), fragile('b'), step('c')]);
      await api.until(id, 'failed');
      await post(`/instances/${id}/retry`);
      await api.until(id, 'failed');
      await resume(id, 'a', { context: { healed: true } });
      await api.until(id, 'completed');
      const { entries } = await get(`/instances/${id}/timeline`);
      const told = entries.map((row: Body) => [row.block_id, row.run_no, row.is_superseded, row.output_ref]);
      expect(told).toEqual([
        ['a', 1, true, null],
        ['b', 1, true, '__error__'],
        ['b', 2, true, '__error__'],
        ['a', 3, false, null],
        ['b', 3, false, null],
        ['c', 3, false, null],
      ]);
      const page = await get(`/instances/${id}/timeline?offset=4&limit=1`);
      expect([page.entries[0].block_id, page.has_more]).toEqual(['b', true]);
      const states = async (run: number): Promise<readonly string[]> =>
        (await get(`/instances/${id}/tree?run_no=${run}`)).map((node: Body) => node.state);
      expect(await states(1)).toEqual(['completed', 'failed', 'skipped']);
      expect(await states(2)).toEqual(['completed', 'failed', 'skipped']);
      expect((await api.call('GET', `/instances/${id}/tree?run_no=3`)).status).toBe(400);
      expect(await treeOf(id)).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
    });
  });
}
