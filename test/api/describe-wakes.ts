import { describe, expect, it } from 'vitest';
import { START_MS, TENANT } from './support/api-fixture.ts';
import type { BackendName } from './support/backends.ts';
import { at, HOUR, NOWHERE, step, useStandingRuns } from './support/standing-runs.ts';

/** Registers what ends the waits of runs before their time, over one kind of store. */
export function describeWakes(backendName: BackendName): void {
  const runs = useStandingRuns(backendName);
  const { get, post, publish, start, run, state, codes, wake } = runs;

  describe('POST /instances/{id}/wake [DASHBOARD A9]', () => {
    it('ends a parked sleep, and what it has slept is told', async () => {
      const id = await run(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      expect(await codes(id)).toEqual(['WAITING_UNTIL']);
      await runs.api.time.pass(5_000);
      const [{ wake_at: wakeAt }] = await get(`/instances/${id}/tree`);
      expect(await wake(id)).toEqual([{ block_id: 'nap', iteration: '', reason: 'sleep', wake_at: wakeAt }]);
      expect(await state(id)).toBe('completed');
      const [{ output }] = await get(`/instances/${id}/outputs`);
      expect(output.slept_ms).toBeGreaterThanOrEqual(5_000);
      expect(output.slept_ms).toBeLessThan(HOUR);
    });

    it.each([
      ['delay', { delay: { duration: HOUR } }],
      ['send_window', { send_window: { start_hour: 20, end_hour: 22 } }],
      [
        'retry',
        {
          handler: 'fail',
          params: { retryable: true },
          retry: { max_attempts: 2, initial_backoff: HOUR, max_backoff: HOUR },
        },
      ],
    ])('ends the wait of a step for its %s', async (reason, extra) => {
      const id = await run(step('send', extra));
      await runs.api.time.calm();
      expect(await state(id)).toBe('scheduled');
      expect(await wake(id)).toMatchObject([{ block_id: 'send', reason }]);
      expect(await state(id)).toBe(reason === 'retry' ? 'failed' : 'completed');
      expect(runs.api.time.now).toBeLessThan(START_MS + HOUR);
    });

    it('a gate, and a retry, ask the send window again that was passed over (8.1) [WIN-3]', async () => {
      const shut = { send_window: { start_hour: 20, end_hour: 22 } };
      const gated = await run(step('ask', { ...shut, wait_for_input: { prompt: '?' } }));
      expect(await wake(gated)).toMatchObject([{ reason: 'send_window' }]);
      expect(await state(gated)).toBe('waiting');
      await post(`/instances/${gated}/signals`, {
        signal_type: 'custom:human_input:ask',
        payload: { value: 'yes' },
      });
      await runs.api.time.calm();
      expect(await get(`/instances/${gated}/tree`)).toMatchObject([{ reason: 'send_window' }]);
      const retry = { max_attempts: 2, initial_backoff: 1, max_backoff: 1 };
      const failing = await run(
        step('send', { ...shut, handler: 'fail', params: { retryable: true }, retry }),
      );
      expect(await wake(failing)).toMatchObject([{ reason: 'send_window' }]);
      await runs.api.time.pass(2_000);
      expect(await get(`/instances/${failing}/tree`)).toMatchObject([{ reason: 'send_window', attempt: 1 }]);
    });

    it('ends the wait of a loop between two passes', async () => {
      const loop = { type: 'loop', id: 'poll', condition: 'true', max_iterations: 2, poll_interval: 3600 };
      const id = await run({ ...loop, body: [step('look')] });
      expect(await wake(id)).toMatchObject([{ block_id: 'poll', reason: 'poll' }]);
      expect(await state(id)).toBe('completed');
    });

    it('starts a run that was to start later', async () => {
      const id = await start(await publish(step('a')), { next_fire_at: at(START_MS + HOUR) });
      expect(await wake(id)).toEqual([
        { block_id: null, iteration: '', reason: 'start', wake_at: at(START_MS + HOUR) },
      ]);
      expect(await state(id)).toBe('completed');
    });

    it('a second call ends nothing, and the timer after the one that was meant stays', async () => {
      const id = await run(
        step('a', { delay: { duration: HOUR } }),
        step('b', { delay: { duration: HOUR } }),
      );
      expect(await wake(id)).toMatchObject([{ block_id: 'a' }]);
      expect(await state(id)).toBe('scheduled');
      expect(await get(`/instances/${id}/tree`)).toMatchObject([{ state: 'completed' }, { reason: 'delay' }]);
    });

    it('of several timers ends the one whose node is named', async () => {
      const nap = (id: string) => [step(id, { delay: { duration: HOUR } })];
      const id = await run({ type: 'parallel', id: 'both', branches: [nap('left'), nap('right')] });
      const nodes = await get(`/instances/${id}/tree`);
      const node = nodes.find(({ block_id: block }: { block_id: string }) => block === 'right');
      expect(await wake(id, { node_id: node.id })).toMatchObject([{ block_id: 'right' }]);
      expect(await wake(id, { node_id: node.id })).toEqual([]);
      expect(await get(`/instances/${id}/tree`)).toMatchObject([
        {},
        { reason: 'delay' },
        { state: 'completed' },
      ]);
      expect((await post(`/instances/${id}/wake`, { node_id: NOWHERE })).status).toBe(404);
    });

    it('the time that is left for an answer is no timer of it [HI-9]', async () => {
      const id = await run(step('ask', { wait_for_input: { prompt: '?', timeout: HOUR } }));
      await runs.api.until(id, 'waiting');
      expect(await wake(id)).toEqual([]);
      expect(await state(id)).toBe('waiting');
    });

    it('neither is the deadline of a step that is between two tries [DL-2]', async () => {
      const retry = { max_attempts: 3, initial_backoff: 2 * HOUR, max_backoff: 2 * HOUR };
      const failing = { handler: 'fail', params: { retryable: true }, retry, deadline: 3 * HOUR };
      const id = await run(step('send', failing));
      expect(await wake(id)).toMatchObject([{ reason: 'retry' }]);
      const [node] = await get(`/instances/${id}/tree`);
      expect(node).toMatchObject({ state: 'waiting', reason: 'retry', attempt: 2 });
    });

    it('adds nothing to the audit but the changes of state, and is refused once the run has ended [API 5.4]', async () => {
      const id = await run(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      const before = (await get(`/instances/${id}/audit`)).length;
      await wake(id);
      const entries = await get(`/instances/${id}/audit`);
      expect(entries.slice(0, entries.length - before)).toMatchObject([
        { from_state: 'running', to_state: 'completed' },
      ]);
      expect((await post(`/instances/${id}/wake`)).status).toBe(400);
      expect((await post(`/instances/${NOWHERE}/wake`)).status).toBe(404);
    });

    it('does not run a step without a slot of its concurrency key [CONC-1]', async () => {
      const nap = { handler: 'sleep', params: { duration_ms: HOUR } };
      const sequence = await publish(step('a', { delay: { duration: HOUR } }), step('b', nap));
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      const [first, second] = [await start(sequence, key), await start(sequence, key)];
      await wake(first);
      await wake(second);
      expect([await state(first), await state(second)]).toEqual(['running', 'scheduled']);
      expect(await codes(second)).toContain('CONCURRENCY_BLOCKED');
    });
  });

  describe('a limit that gives more wakes those who wait for it', () => {
    it('a raised rate limit, and one that is removed [RATE-3]', async () => {
      const path = `/tenants/${TENANT}/rate-limits/mail`;
      const limit = (max: number) =>
        runs.api.call('PUT', path, { body: { max_count: max, window_seconds: 3600 } });
      await limit(1);
      const sequence = await publish(step('send', { rate_limit_key: 'mail' }));
      const ids = [await start(sequence), await start(sequence), await start(sequence)];
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'scheduled', 'scheduled']);
      expect(await codes(ids[1] ?? '')).toEqual(['RATE_LIMITED', 'WAITING_UNTIL']);
      await limit(2);
      await runs.api.time.calm();
      expect((await Promise.all(ids.map(state))).toSorted()).toEqual(['completed', 'completed', 'scheduled']);
      await runs.api.call('DELETE', path);
      await runs.api.time.calm();
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'completed', 'completed']);
      expect(runs.api.time.now).toBeLessThan(START_MS + HOUR);
    });

    it('a breaker that is reset [CB-7]', async () => {
      const sequence = await publish(step('ask', { handler: 'parcel_lookup' }));
      for (let n = 0; n < 5; n += 1) {
        const id = await start(sequence);
        const [task] = (
          await post('/workers/tasks/poll', { handler_name: 'parcel_lookup', worker_id: 'w-1' })
        ).body;
        const report = { worker_id: 'w-1', claim_epoch: task.claim_epoch, message: 'down', retryable: false };
        await post(`/workers/tasks/${task.id}/fail`, report);
        await runs.api.until(id, 'failed');
      }
      const held = await start(sequence);
      expect(await codes(held)).toEqual(['WAITING_UNTIL', 'OPEN_CIRCUIT_BREAKER']);
      await post(`/tenants/${TENANT}/circuit-breakers/parcel_lookup/reset`);
      await runs.api.time.calm();
      expect(await state(held)).toBe('waiting');
      expect(runs.api.time.now).toBeLessThan(START_MS + HOUR);
    });

    it('a pool that gets another resource, or one with a higher cap', async () => {
      const { id: pool } = (await post('/pools', { tenant_id: TENANT, name: 'senders' })).body;
      const add = (key: string) =>
        post(`/pools/${pool}/resources`, { resource_key: key, name: key, daily_cap: 1 });
      const { id: resource } = (await add('r1')).body;
      const sequence = await publish(step('send', { pool: 'senders' }));
      const ids = [await start(sequence), await start(sequence), await start(sequence)];
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'scheduled', 'scheduled']);
      await add('r2');
      await runs.api.time.calm();
      expect((await Promise.all(ids.map(state))).toSorted()).toEqual(['completed', 'completed', 'scheduled']);
      await runs.api.call('PUT', `/pools/${pool}/resources/${resource}`, { body: { daily_cap: 5 } });
      await runs.api.time.calm();
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'completed', 'completed']);
    });
  });
}
