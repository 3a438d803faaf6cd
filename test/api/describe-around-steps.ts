import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import type { Body } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

let api: LiveApi;

const step = (id: string, handler: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler,
  ...extra,
});

async function start(
  blocks: readonly JsonObject[],
  members: JsonObject = {},
  body: JsonObject = {},
): Promise<string> {
  const sequenceId = await published(api as never, { name: `s-${nextId()}`, blocks, ...members });
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, body) });
  expect(reply.status).toBe(201);
  return reply.body.id as string;
}

const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
const outputsOf = async (id: string): Promise<Body> => get(`/instances/${id}/outputs`);

async function untilOutput(id: string, blockId: string): Promise<Body> {
  const there = async () => (await outputsOf(id)).some((row: Body) => row.block_id === blockId);
  expect(await api.time.until(there, 3_600_000)).toBe(true);
  return outputsOf(id);
}

/** Registers what a client sees of hooks, interceptors, alerts and dry runs over one kind of store. */
export function describeAroundSteps(backendName: BackendName): void {
  const backend = useBackend(backendName);
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
  });
  afterEach(async () => {
    await api.stop();
  });

  describe('around the steps, over HTTP', () => {
    it('lists the hooks of a failure after its error row, the failed one as an error [HOOK-1] [HOOK-3]', async () => {
      const id = await start([step('x', 'fail', { params: { message: 'gone', code: 'GONE' } })], {
        on_failure: [
          step('tidy', 'transform', {
            params: { why: '{{outputs.x.message}}', of: '{{data._error.failed_blocks}}' },
          }),
          step('stuck', 'fail'),
          step('tell', 'transform', { params: { tidy: '{{outputs.tidy.why}}' } }),
        ],
        interceptors: { on_failure: { handler: 'log', params: { told: true } } },
      });
      await api.until(id, 'failed');
      const rows = await untilOutput(id, '_interceptor:on_failure');
      expect(rows.map((row: Body) => [row.block_id, row.output_ref])).toEqual([
        ['x', '__error__'],
        ['tidy', null],
        ['stuck', '__error__'],
        ['tell', null],
        ['_interceptor:on_failure', null],
      ]);
      expect(rows[1]).toMatchObject({ output: { why: 'gone', of: ['x'] }, attempt: 0 });
      expect(rows[3].output).toEqual({ tidy: 'gone' });
      expect(rows[4].output).toEqual({ told: true });
      expect(await get(`/instances/${id}`)).toMatchObject({ state: 'failed', next_fire_at: null });
      // Cleanup leaves no change of the state behind.
      expect(await get(`/instances/${id}/audit`)).toHaveLength(1);
      expect((await get(`/instances/${id}/tree`)).map((node: Body) => node.block_id)).toEqual(['x']);
    });

    it('takes the report of a worker for a hook, although the run has ended [HOOK-2]', async () => {
      const id = await start([step('x', 'fail')], { on_failure: [step('hand', 'sweeper')] });
      await api.until(id, 'failed');
      const poll = { handler_name: 'sweeper', worker_id: 'w1' };
      let tasks: Body = [];
      await api.time.until(async () => {
        tasks = (await api.call('POST', '/workers/tasks/poll', { body: poll })).body;
        return tasks.length > 0;
      }, 60_000);
      const [task] = tasks;
      expect(task).toMatchObject({ block_id: 'hand', handler_name: 'sweeper', attempt: 0 });
      expect((await get(`/instances/${id}/explain`)).summary).toContain('failed');
      const claim = { worker_id: 'w1', claim_epoch: task.claim_epoch };
      const done = await api.call('POST', `/workers/tasks/${task.id}/complete`, {
        body: { ...claim, output: { swept: 3 } },
      });
      expect(done.status).toBe(200);
      const rows = await untilOutput(id, 'hand');
      expect(rows.at(-1)).toMatchObject({ block_id: 'hand', output: { swept: 3 }, output_ref: null });
      expect((await get(`/instances/${id}`)).state).toBe('failed');
    });

    it('runs on_cancel after a PATCH as after a signal [HOOK-1] [CAN-7]', async () => {
      for (const way of ['patch', 'signal']) {
        const id = await start([step('s', 'sleep', { params: { duration_ms: 900_000 } })], {
          on_cancel: [step('undo', 'noop')],
        });
        if (way === 'patch') {
          await api.call('PATCH', `/instances/${id}/state`, { body: { state: 'cancelled' } });
        } else await api.call('POST', `/instances/${id}/signals`, { body: { signal_type: 'cancel' } });
        await api.until(id, 'cancelled');
        expect((await untilOutput(id, 'undo')).map((row: Body) => row.block_id)).toEqual(['undo']);
      }
    });

    it('runs the hooks again when a retry fails again [HOOK-1] [OP-1]', async () => {
      const id = await start([step('x', 'fail')], {
        on_failure: [step('tidy', 'noop'), step('bad', 'fail')],
      });
      await api.until(id, 'failed');
      expect((await api.call('POST', `/instances/${id}/retry`)).status).toBe(200);
      await api.until(id, 'failed');
      const twice = async () => {
        const rows = await outputsOf(id);
        return rows.filter((row: Body) => row.block_id === 'tidy').length === 2;
      };
      expect(await api.time.until(twice, 60_000)).toBe(true);
      await api.time.until(async () => (await outputsOf(id)).length === 4, 60_000);
      expect((await outputsOf(id)).map((row: Body) => row.block_id)).toEqual(['tidy', 'x', 'tidy', 'bad']);
    });

    it('shows traces of interceptors with the outputs and never in templates [INT-1] [INT-2] [INT-4] [OUT-5]', async () => {
      const id = await start(
        [step('a', 'transform', { params: { n: 1 } }), step('b', 'transform', { params: '{{outputs}}' })],
        {
          interceptors: {
            before_step: { handler: 'nobody', params: { raw: '{{data.x}}' } },
            after_step: { handler: 'transform', invoke: true, params: { id: '{{step.id}}' } },
            on_complete: { handler: 'nobody' },
          },
        },
      );
      await api.until(id, 'completed');
      const rows = await outputsOf(id);
      expect(rows.map((row: Body) => [row.block_id, row.output])).toEqual([
        ['_interceptor:before:a', { raw: '{{data.x}}' }],
        ['a', { n: 1 }],
        ['_interceptor:after:a', { id: 'a' }],
        ['_interceptor:before:b', { raw: '{{data.x}}' }],
        ['b', { a: { n: 1 } }],
        ['_interceptor:after:b', { id: 'b' }],
        ['_interceptor:on_complete', null],
      ]);
    });

    it('keeps what came of each signal in the journal, with retries, patches and breaches [SIG-9] [AUD-2] [SLA-1]', async () => {
      const id = await start([step('g', 'noop', { wait_for_input: { prompt: 'Go?' } })], {
        sla: { max_runtime: 5000 },
      });
      await api.until(id, 'waiting');
      const send = async (signal_type: JsonObject | string, payload: JsonObject = {}): Promise<string> =>
        (await api.call('POST', `/instances/${id}/signals`, { body: { signal_type, payload } })).body
          .signal_id;
      const unknown = await send({ custom: 'knock' });
      const wrong = await send({ custom: 'human_input:g' }, { value: 'perhaps' });
      await api.call('PATCH', `/instances/${id}/context`, { body: { context: { data: { a: 1 } } } });
      await api.time.until(async () => (await outputsOf(id)).length > 0, 60_000);
      expect(await outputsOf(id)).toMatchObject([
        { block_id: '_sla:runtime', output: { _sla_breach: 'max_runtime', _alerted_at: expect.any(String) } },
      ]);
      const right = await send({ custom: 'human_input:g' }, { value: 'yes' });
      await api.until(id, 'completed');
      const entries = await get(`/instances/${id}/journal`);
      expect(
        entries
          .map((entry: Body) => [
            entry.kind,
            entry.details.signal_id ?? null,
            entry.details.disposition ?? null,
          ])
          .reverse(),
      ).toEqual([
        ['signal', unknown, 'no_effect'],
        ['signal', wrong, 'rejected'],
        ['context_patch', null, null],
        ['sla_breach', null, null],
        ['signal', right, 'applied'],
      ]);
      expect(entries[0]).toMatchObject({ instance_id: id, actor: null, created_at: expect.any(String) });
      expect((await api.call('GET', `/instances/${nextId()}/journal`)).status).toBe(404);
      expect(await get(`/instances/${id}/journal?limit=1`)).toHaveLength(1);
    });

    it('starts dry runs that pass time at once, or keep it [DRY-3]', async () => {
      const blocks = [
        step('nap', 'sleep', { params: { duration_ms: 120_000 } }),
        step('call', 'http_request', { params: { url: 'https://example.com/' } }),
      ];
      const quick = await start(blocks, {}, { dry_run: true });
      const began = api.time.now;
      await api.until(quick, 'completed');
      expect(api.time.now - began).toBeLessThan(60_000);
      expect((await outputsOf(quick))[1].output).toMatchObject({ dry_run: true, handler: 'http_request' });
      const real = await start(blocks, {}, { dry_run: true, dry_run_real_time: true });
      const from = api.time.now;
      await api.until(real, 'completed');
      expect(api.time.now - from).toBeGreaterThanOrEqual(120_000);
    });
  });
}
