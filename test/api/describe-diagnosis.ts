import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, START_MS, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

const HOUR = 3_600_000;
const at = (ms: number): string => new Date(ms).toISOString();
const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const NOWHERE = '01900000-0000-7000-8000-00000000dead';

/** Registers what people ask of a run that stands, and how they move it, over one kind of store. */
export function describeDiagnosis(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  let underTest: Awaited<ReturnType<typeof backend.fresh>>;
  beforeEach(async () => {
    underTest = await backend.fresh();
    const breakers = { threshold: 5, cooldownMs: HOUR };
    api = createLiveApi(underTest, {}, { engine: { breakers } });
  });
  afterEach(() => api.stop());

  const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
  const post = (path: string, body?: JsonObject) =>
    api.call('POST', path, body === undefined ? {} : { body });
  const publish = (...blocks: readonly JsonObject[]) =>
    published(api as never, { name: `s-${nextId()}`, blocks });
  const start = async (sequenceId: string, overrides: JsonObject = {}): Promise<string> => {
    const reply = await post('/instances', startBody(sequenceId, overrides));
    expect(reply.status).toBe(201);
    await api.time.calm();
    return reply.body.id as string;
  };
  const run = async (...blocks: readonly JsonObject[]) => start(await publish(...blocks));
  const state = async (id: string): Promise<string> => (await get(`/instances/${id}`)).state;
  const codes = async (id: string): Promise<readonly string[]> =>
    (await get(`/instances/${id}/diagnosis`)).diagnoses.map(({ code }: { code: string }) => code);
  const wake = async (id: string, body?: JsonObject): Promise<Body> => {
    const reply = await post(`/instances/${id}/wake`, body);
    expect(reply.status).toBe(200);
    await api.time.calm();
    return reply.body.woken;
  };

  describe('GET /instances/{id}/diagnosis', () => {
    it('shows a gate as the contract does [API 7.1]', async () => {
      const id = await run(step('ask', { wait_for_input: { prompt: 'Refund?', timeout: 5 * HOUR } }));
      await api.until(id, 'waiting');
      const now = at(api.time.now);
      expect(await get(`/instances/${id}/diagnosis`)).toEqual({
        instance_id: id,
        state: 'waiting',
        diagnoses: [
          {
            category: 'direct_evidence',
            health: 'expected',
            code: 'PENDING_APPROVAL',
            severity: 'info',
            summary: "step 'ask' waits for a human answer",
            evidence: [
              { label: 'waiting_since', summary: at(START_MS) },
              { label: 'times_out_at', summary: at(START_MS + 5 * HOUR) },
            ],
            affected_resource: { kind: 'block', id: 'ask' },
            remediation: [
              {
                summary: 'send one of the choices',
                command: `orch8 signal ${id} custom:human_input:ask '{"value":"yes"}'`,
                side_effect_risk: true,
              },
            ],
            confidence: 'certain',
            observed_at: now,
          },
        ],
        generated_at: now,
      });
    });

    it('is 404 for an unknown instance and one of another tenant, 400 for a bad id [API 7.1]', async () => {
      const id = await run(step('a'));
      expect((await api.call('GET', `/instances/${NOWHERE}/diagnosis`)).status).toBe(404);
      expect((await api.call('GET', `/instances/${id}/diagnosis`, { tenant: OTHER_TENANT })).status).toBe(
        404,
      );
      expect((await api.call('GET', '/instances/no-uuid/diagnosis')).status).toBe(400);
    });

    it('tells a task apart by who polls for it', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      await api.until(id, 'waiting');
      expect(await codes(id)).toEqual(['NO_COMPATIBLE_WORKER']);
      const poll = { handler_name: 'parcel_lookup', worker_id: 'w-1', version: '1.9.4', limit: 0 };
      const pin = { tenant_id: TENANT, handler_name: 'parcel_lookup', min_version: '1.10.0' };
      expect((await post('/workers/version-pins', pin)).status).toBe(200);
      expect((await post('/workers/tasks/poll', { ...poll, limit: 1 })).body).toEqual([]);
      expect(await codes(id)).toEqual(['WORKER_BELOW_VERSION_PIN']);
      const path = `/workers/version-pins/${TENANT}/parcel_lookup`;
      expect((await api.call('DELETE', path)).status).toBe(204);
      expect(await codes(id)).toEqual(['WAITING_WORKER_PICKUP']);
      expect((await post('/workers/tasks/poll', { ...poll, limit: 1 })).body).toHaveLength(1);
      expect(await codes(id)).toEqual(['WORKER_TASK_PENDING']);
    });

    it('names the child that is waited for', async () => {
      const child = await publish(step('ask', { wait_for_input: { prompt: '?' } }));
      const name = (await get(`/sequences/${child}`)).name;
      const id = await run({ type: 'sub_sequence', id: 'sub', sequence_name: name });
      await api.until(id, 'waiting');
      const [first] = (await get(`/instances/${id}/diagnosis`)).diagnoses;
      const [{ id: childId }] = await get(`/instances/${id}/children`);
      expect(first).toMatchObject({
        code: 'WAITING_CHILD',
        affected_resource: { kind: 'instance', id: childId },
      });
    });

    it('names who holds the slots of a concurrency key, and the place in line [DASHBOARD A7]', async () => {
      const sequence = await publish(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      const holder = await start(sequence, key);
      const ids = [await start(sequence, key), await start(sequence, key)];
      const found = await Promise.all(ids.map(async (id) => get(`/instances/${id}/diagnosis`)));
      for (const { diagnoses } of found) {
        expect(diagnoses[0].code).toBe('CONCURRENCY_BLOCKED');
        expect(diagnoses[0].summary).toContain('1 of 1 slots');
        expect(diagnoses[0].evidence).toContainEqual({ label: 'holders', summary: holder, data: [holder] });
      }
      const places = found.map(({ diagnoses }) => diagnoses[0].evidence[0].summary);
      expect(places.toSorted()).toEqual(['1', '2']);
    });

    it('a look-up that fails is told of and is no error of the call [API 7.1]', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      const store = { ...underTest.store, getSurroundings: () => Promise.reject(new Error('gone')) };
      const fails = createLiveApi({ ...underTest, store });
      await fails.stop();
      const reply = await fails.call('GET', `/instances/${id}/diagnosis`);
      expect(reply.status).toBe(200);
      const found = reply.body.diagnoses.map(({ code }: { code: string }) => code);
      expect(found).toEqual(['WAITING_EXTERNAL_EVENT', 'EVIDENCE_INCOMPLETE']);
    });
  });

  describe('remediations [API 7.2]', () => {
    const previews = (id: string): Promise<Body> => get(`/instances/${id}/remediations`);
    const apply = (id: string, body: JsonObject) => post(`/instances/${id}/remediations/apply`, body);

    it('a paused instance can be resumed, and the preview is stale afterwards', async () => {
      const id = await run(step('a', { delay: { duration: HOUR } }), step('b'));
      await post(`/instances/${id}/signals`, { signal_type: 'pause' });
      await api.until(id, 'paused');
      const shown = await previews(id);
      expect(shown).toEqual([
        {
          preview_id: `${id}:paused:PAUSED:0:0`,
          finding_code: 'PAUSED',
          remediation_index: 0,
          action: 'resume_instance',
          summary: 'resume the instance',
          command: `orch8 signal ${id} resume`,
          side_effect_risk: false,
          expected_state: 'paused',
        },
      ]);
      expect(await previews(id)).toEqual(shown);
      const done = await apply(id, { preview_id: shown[0].preview_id });
      expect(done).toMatchObject({
        status: 200,
        body: {
          preview_id: shown[0].preview_id,
          action: 'resume_instance',
          before_state: 'paused',
          after_state: 'scheduled',
        },
      });
      const again = await apply(id, { preview_id: shown[0].preview_id });
      expect(again.status).toBe(400);
      expect(again.text).toContain('stale or does not belong');
    });

    it('a retry needs the acknowledgement of its risk', async () => {
      const id = await run(step('a', { handler: 'fail' }));
      await api.until(id, 'failed');
      const [preview] = await previews(id);
      expect(preview).toMatchObject({
        action: 'retry_instance',
        side_effect_risk: true,
        expected_state: 'failed',
      });
      const refused = await apply(id, { preview_id: preview.preview_id });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('acknowledge_side_effect_risk');
      const order = { preview_id: preview.preview_id, acknowledge_side_effect_risk: true };
      expect((await apply(id, order)).body).toMatchObject({
        before_state: 'failed',
        after_state: 'scheduled',
      });
    });

    it('what only a person can do is refused, a completed instance offers nothing', async () => {
      const id = await run(step('lookup', { handler: 'parcel_lookup' }));
      await api.until(id, 'waiting');
      const [preview] = await previews(id);
      expect(preview).toMatchObject({ finding_code: 'NO_COMPATIBLE_WORKER', action: 'manual' });
      const refused = await apply(id, { preview_id: preview.preview_id });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('manually');
      const done = await run(step('a'));
      await api.until(done, 'completed');
      expect(await previews(done)).toEqual([]);
      expect((await apply(NOWHERE, { preview_id: 'x' })).status).toBe(404);
      expect((await apply(id, {})).status).toBe(422);
      expect((await apply(id, { preview_id: `${done}:completed:X:0:0` })).text).toContain(
        'stale or does not belong',
      );
    });
  });

  describe('POST /instances/{id}/wake [DASHBOARD A9]', () => {
    it('ends a parked sleep, and what it has slept is told', async () => {
      const id = await run(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      expect(await codes(id)).toEqual(['WAITING_UNTIL']);
      await api.time.pass(5_000);
      expect(await wake(id)).toEqual([
        { block_id: 'nap', iteration: '', reason: 'sleep', wake_at: at(START_MS + HOUR) },
      ]);
      expect(await state(id)).toBe('completed');
      expect((await get(`/instances/${id}/outputs`))[0].output).toEqual({
        slept_ms: expect.closeTo(5_000, -4),
      });
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
      await api.time.calm();
      expect(await state(id)).toBe('scheduled');
      expect(await wake(id)).toMatchObject([{ block_id: 'send', reason }]);
      expect(await state(id)).toBe(reason === 'retry' ? 'failed' : 'completed');
      expect(api.time.now).toBeLessThan(START_MS + HOUR);
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
      await api.until(id, 'waiting');
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
        api.call('PUT', path, { body: { max_count: max, window_seconds: 3600 } });
      await limit(1);
      const sequence = await publish(step('send', { rate_limit_key: 'mail' }));
      const ids = [await start(sequence), await start(sequence), await start(sequence)];
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'scheduled', 'scheduled']);
      expect(await codes(ids[1] ?? '')).toEqual(['RATE_LIMITED', 'WAITING_UNTIL']);
      await limit(2);
      await api.time.calm();
      expect((await Promise.all(ids.map(state))).toSorted()).toEqual(['completed', 'completed', 'scheduled']);
      await api.call('DELETE', path);
      await api.time.calm();
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'completed', 'completed']);
      expect(api.time.now).toBeLessThan(START_MS + HOUR);
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
        await api.until(id, 'failed');
      }
      const held = await start(sequence);
      expect(await codes(held)).toEqual(['WAITING_UNTIL', 'OPEN_CIRCUIT_BREAKER']);
      await post(`/tenants/${TENANT}/circuit-breakers/parcel_lookup/reset`);
      await api.time.calm();
      expect(await state(held)).toBe('waiting');
      expect(api.time.now).toBeLessThan(START_MS + HOUR);
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
      await api.time.calm();
      expect((await Promise.all(ids.map(state))).toSorted()).toEqual(['completed', 'completed', 'scheduled']);
      await api.call('PUT', `/pools/${pool}/resources/${resource}`, { body: { daily_cap: 5 } });
      await api.time.calm();
      expect(await Promise.all(ids.map(state))).toEqual(['completed', 'completed', 'completed']);
    });
  });

  describe('GET /limits [DASHBOARD A7]', () => {
    it('lists holders and waiters of concurrency keys, and the use of rate limits', async () => {
      const sequence = await publish(step('nap', { handler: 'sleep', params: { duration_ms: HOUR } }));
      const key = { concurrency_key: 'printer', max_concurrency: 1 };
      const holder = await start(sequence, key);
      const low = await start(sequence, key);
      const high = await start(sequence, { ...key, priority: 'High' });
      await api.call('PUT', `/tenants/${TENANT}/rate-limits/mail`, {
        body: { max_count: 4, window_seconds: 90 },
      });
      await run(step('send', { rate_limit_key: 'mail' }));
      const body = await get('/limits');
      expect(body.concurrency).toMatchObject([
        {
          ...{ tenant_id: TENANT, key: 'printer', max: 1, holder_count: 1, waiter_count: 2 },
          holders: [{ instance_id: holder, since: at(START_MS) }],
          waiters: [
            { instance_id: high, priority: 'High', max: 1 },
            { instance_id: low, priority: 'Normal', max: 1 },
          ],
        },
      ]);
      const window = { window_seconds: 90, window_end: at(START_MS + 90_000) };
      expect(body.rates).toEqual([{ tenant_id: TENANT, key: 'mail', count: 1, max: 4, ...window }]);
      expect((await get('/limits?concurrency_key=other')).concurrency).toEqual([]);
      const foreign = await api.call('GET', '/limits', { tenant: OTHER_TENANT });
      expect(foreign.body).toEqual({ concurrency: [], rates: [] });
    });
  });

  describe('GET /instances/{id}/signals [DASHBOARD A14]', () => {
    it('tells what came of each signal, newest first [SIG-9]', async () => {
      const id = await run(step('ask', { wait_for_input: { prompt: '?' } }));
      await api.until(id, 'waiting');
      const send = (type: JsonObject | string, payload: JsonObject | null = null) =>
        post(`/instances/${id}/signals`, { signal_type: type, payload });
      await send('update_context', { data: { depot: 'north' } });
      await send('update_context', { no: 'data' });
      await send({ custom: 'hello' });
      await send({ custom: 'human_input:ask' }, { value: 'maybe' });
      await send({ custom: 'human_input:ask' }, { value: 'yes' });
      await api.until(id, 'completed');
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
      expect((await api.call('GET', `/instances/${NOWHERE}/signals`)).status).toBe(404);
    });
  });
}
