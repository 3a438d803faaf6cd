import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, START_MS, TENANT } from './support/api-fixture.ts';
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
const steps = (count: number, extra: JsonObject = {}) =>
  Array.from({ length: count }, (_, n) => step(`s${n + 1}`, extra));

async function publish(blocks: readonly JsonObject[]): Promise<string> {
  return published(api as never, { name: `s-${nextId()}`, blocks });
}

async function start(sequenceId: string, overrides: JsonObject = {}): Promise<string> {
  const reply = await api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });
  expect(reply.status).toBe(201);
  return reply.body.id as string;
}

const get = async (path: string): Promise<Body> => (await api.call('GET', path)).body;
const put = (path: string, body: JsonObject) => api.call('PUT', path, { body });
const post = (path: string, body?: JsonObject) => api.call('POST', path, body === undefined ? {} : { body });
const at = (ms: number): string => new Date(ms).toISOString();

async function statesOf(ids: readonly string[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await get(`/instances/${id}`)).state as string));
}

/** A worker takes the task of an instance and fails it. */
async function failTask(handler: string, retryable = false): Promise<void> {
  const poll = { tenant_id: TENANT, handler_name: handler, worker_id: 'w-1', limit: 1 };
  const tasks = (await post('/workers/tasks/poll', poll)).body as Body;
  const task = (Array.isArray(tasks) ? tasks : tasks.tasks)[0];
  const report = { worker_id: 'w-1', claim_epoch: task.claim_epoch, message: 'down', retryable };
  expect((await post(`/workers/tasks/${task.id}/fail`, report)).status).toBe(200);
}

/** Registers the acceptance scenarios of throughput and protection over one kind of store. */
export function describeLiveLimits(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let underTest: Awaited<ReturnType<typeof backend.fresh>>;
  beforeEach(async () => {
    underTest = await backend.fresh();
    api = createLiveApi(underTest);
  });
  /** Another process on the same database so much later; the time between is nobody's. */
  const later = async (ms: number) => {
    await api.stop();
    await underTest.advanceClock(ms);
    const { now } = api.time;
    api = createLiveApi(underTest);
    api.time.now = now + ms;
  };
  afterEach(async () => {
    await api.stop();
  });

  describe('rate limits over HTTP', () => {
    it('mail 3 per 60 s, nine runs: 3, 6, 9 completed at +0, +60, +120; none failed (F05) [RATE-3]', async () => {
      const path = `/tenants/${TENANT}/rate-limits/mail`;
      expect((await put(path, { max_count: 3, window_seconds: 60 })).status).toBe(200);
      const sequence = await publish([step('send', { rate_limit_key: 'mail' })]);
      const ids: string[] = [];
      for (let n = 0; n < 9; n += 1) ids.push(await start(sequence));
      await api.time.calm();
      const count = async (state: string) => (await statesOf(ids)).filter((one) => one === state).length;
      expect([await count('completed'), await count('scheduled')]).toEqual([3, 6]);
      const held = ids.find((_, n) => n > 2) ?? '';
      expect(await get(`/instances/${held}`)).toMatchObject({
        state: 'scheduled',
        next_fire_at: at(START_MS + 60_000),
      });
      expect(await get(`/instances/${held}/tree`)).toMatchObject([
        { state: 'waiting', reason: 'rate_limit' },
      ]);
      expect((await get(`/instances/${held}/explain`)).waiting_on).toMatchObject([
        {
          kind: 'limit',
          block_id: 'send',
          detail: "waits for a token of the rate limit 'mail'",
          until: at(START_MS + 60_000),
        },
      ]);
      expect(await get(path)).toMatchObject({ current_count: 3, window_start: at(START_MS) });
      await api.time.pass(60_000);
      expect([await count('completed'), await count('failed')]).toEqual([6, 0]);
      await api.time.pass(60_000);
      expect(await count('completed')).toBe(9);
    });

    it('5 a second, 20 starts: at most 5 in any sliding second (B61)', async () => {
      await put(`/tenants/${TENANT}/rate-limits/mail`, { max_count: 5, window_seconds: 1 });
      const sequence = await publish([step('send', { rate_limit_key: 'mail' })]);
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1) ids.push(await start(sequence));
      for (const id of ids) await api.until(id, 'completed');
      const times = await Promise.all(
        ids.map(async (id) => Date.parse((await get(`/instances/${id}/outputs`))[0].created_at)),
      );
      const busiest = times.map((from) => times.filter((one) => one >= from && one < from + 1_000).length);
      expect(Math.max(...busiest)).toBeLessThanOrEqual(5);
    });
  });

  describe('circuit breakers over HTTP', () => {
    it('open, no fallback: scheduled about 60 s ahead, then one probe is let through (C09) [CB-5] [CB-6]', async () => {
      const sequence = await publish([step('ask', { handler: 'parcel_lookup' })]);
      for (let n = 0; n < 5; n += 1) {
        const id = await start(sequence);
        await api.until(id, 'waiting');
        await failTask('parcel_lookup');
        await api.until(id, 'failed');
      }
      const path = `/tenants/${TENANT}/circuit-breakers/parcel_lookup`;
      const open = await get(path);
      expect(open).toMatchObject({
        ...{ tenant_id: TENANT, handler: 'parcel_lookup', state: 'open', failure_count: 5 },
        ...{ failure_threshold: 5, cooldown_secs: 60 },
      });
      const [held, other] = [await start(sequence), await start(sequence)];
      await api.time.calm();
      const until = at(Date.parse(open.opened_at) + 60_000);
      expect(await get(`/instances/${held}`)).toMatchObject({ state: 'scheduled', next_fire_at: until });
      const [wait] = (await get(`/instances/${held}/explain`)).waiting_on;
      expect(wait).toMatchObject({ kind: 'limit', until });
      expect(wait.detail).toContain("'parcel_lookup'");
      await api.time.pass(60_000);
      expect((await statesOf([held, other])).toSorted()).toEqual(['scheduled', 'waiting']);
      const probed = await get(path);
      expect(probed.state).toBe('half_open');
      // Omitted when not open [API 16].
      expect(probed).not.toHaveProperty('opened_at');
      expect(await get('/circuit-breakers')).toEqual([probed]);
    });

    it('a breaker never touched: reset is 200, and it stays unknown (C11) [CB-7]', async () => {
      const path = `/tenants/${TENANT}/circuit-breakers/calm`;
      expect((await post(`${path}/reset`)).status).toBe(200);
      expect((await api.call('GET', path)).status).toBe(404);
      const id = await start(await publish([step('ask', { handler: 'calm' })]));
      await api.until(id, 'waiting');
      await failTask('calm');
      expect(await get(path)).toMatchObject({ state: 'closed', failure_count: 1 });
      expect(await get('/circuit-breakers')).toHaveLength(1);
      expect((await post(`${path}/reset`)).status).toBe(200);
      expect(await get(path)).toMatchObject({ state: 'closed', failure_count: 0 });
    });
  });

  describe('resource pools over HTTP', () => {
    it('r1 (cap 2) and r2 (cap 1), round robin: r1, r2, r1, exhausted; the next day assigned (F07)', async () => {
      const pool = (await post('/pools', { tenant_id: TENANT, name: 'senders' })).body;
      for (const [key, cap] of [
        ['r1', 2],
        ['r2', 1],
      ] as const) {
        const resource = { resource_key: key, name: key, daily_cap: cap };
        expect((await post(`/pools/${pool.id}/resources`, resource)).status).toBe(201);
        await api.time.pass(1);
      }
      const params = { from: '{{ runtime.resource_key }}' };
      const sequence = await publish([step('send', { handler: 'transform', pool: 'senders', params })]);
      const midnight = (Math.floor(START_MS / 86_400_000) + 1) * 86_400_000;
      await later(midnight - api.time.now - 1_000);
      const ids: string[] = [];
      for (let n = 0; n < 4; n += 1) ids.push(await start(sequence));
      await api.time.calm();
      expect(await statesOf(ids)).toEqual(['completed', 'completed', 'completed', 'scheduled']);
      expect(await get(`/instances/${ids[3]}`)).toMatchObject({ next_fire_at: at(midnight) });
      await api.time.pass(2_000);
      const given = await Promise.all(
        ids.map(async (id) => (await get(`/instances/${id}/outputs`))[0].output.from),
      );
      expect(given.slice(0, 3)).toEqual(['r1', 'r2', 'r1']);
      expect(['r1', 'r2']).toContain(given[3]);
      const shown = await get(`/instances/${ids[0]}`);
      expect(shown.context.runtime.resource_key).toBe('r1');
    });
  });

  describe('budgets over HTTP', () => {
    it('max_steps 3, five steps: paused with reason and limit; a resume gives more work (F15) [BUD-3] [BUD-4]', async () => {
      const id = await start(await publish(steps(6)), { budget: { max_steps: 3 } });
      const paused = await api.until(id, 'paused');
      expect(paused.metadata).toEqual({
        paused_reason: 'budget_exceeded',
        budget_breach: { limit: 'max_steps', limit_value: 3, actual: 4 },
      });
      const { waiting_on: waits } = await get(`/instances/${id}/explain`);
      expect(waits[0]).toMatchObject({ kind: 'pause' });
      expect(waits[0].detail).toContain('max_steps of 3');
      await post(`/instances/${id}/signals`, { signal_type: 'resume' });
      await api.time.calm();
      const again = await api.until(id, 'paused');
      expect(again.metadata.budget_breach).toMatchObject({ actual: 5 });
      expect(again.context.runtime.total_steps_executed).toBe(5);
    });

    it('the same with the cap raised to 20: it goes on, no resume is needed (F17) [BUD-4]', async () => {
      const id = await start(await publish(steps(5)), { budget: { max_steps: 3 } });
      await api.until(id, 'paused');
      const reply = await api.call('PATCH', `/instances/${id}/budget`, { body: { max_steps: 20 } });
      expect(reply.status).toBe(200);
      const done = await api.until(id, 'completed');
      expect(done).toMatchObject({ budget: { max_steps: 20 }, metadata: {} });
    });
  });
}
