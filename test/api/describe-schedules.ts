import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, type Reply, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published } from './support/documents.ts';
import { createLiveApi, type LiveApi } from './support/live-api.ts';

/** Registers the tests of schedules over one kind of store: a process that lives on, on a clock that jumps. */
export function describeSchedules(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  let sequenceId: string;
  let sleeper: string;
  beforeEach(async () => {
    api = createLiveApi(await backend.fresh());
    sequenceId = await published(api as never, { name: `s-${nextId()}` });
    const sleep = { type: 'step', id: 'nap', handler: 'sleep', params: { duration_ms: 150_000 } };
    sleeper = await published(api as never, { name: `s-${nextId()}`, blocks: [sleep] });
  });
  afterEach(async () => {
    await api.stop();
  });

  const bodyOf = (overrides: JsonObject = {}): JsonObject => ({
    tenant_id: TENANT,
    namespace: 'fulfilment',
    sequence_id: sequenceId,
    cron_expr: '* * * * *',
    ...overrides,
  });

  async function schedule(overrides: JsonObject = {}): Promise<string> {
    const reply = await api.call('POST', '/cron', { body: bodyOf(overrides) });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body.id as string;
  }

  const read = async (id: string): Promise<Body> => (await api.call('GET', `/cron/${id}`)).body;
  const change = (id: string, body: JsonObject): Promise<Reply> => api.call('PUT', `/cron/${id}`, { body });

  /** Instances of a schedule, oldest first. */
  async function runsOf(id: string): Promise<readonly Body[]> {
    const { body } = await api.call('GET', `/instances?metadata.cron_schedule_id=${id}&limit=1000`);
    return body.items.toSorted((a: Body, b: Body) => (a.created_at < b.created_at ? -1 : 1));
  }

  const startsOf = async (id: string): Promise<readonly string[]> =>
    (await runsOf(id)).map((run) => run.created_at.slice(11, 19));

  describe(`schedules over ${backendName}`, () => {
    it('fire at their instant, with metadata and a key that names the occurrence [CRON-3]', async () => {
      const id = await schedule({ metadata: { owner: 'ops' } });
      expect(await read(id)).toMatchObject({
        ...{
          next_fire_at: '2027-02-11T08:01:00.000Z',
          last_triggered_at: null,
          timezone: 'UTC',
          enabled: true,
        },
        ...{ overlap_policy: 'allow', skipped_fires: 0, last_skipped_at: null, metadata: { owner: 'ops' } },
      });
      await api.time.pass(120_500);
      const runs = await runsOf(id);
      expect(runs.map((run) => [run.created_at, run.idempotency_key])).toEqual([
        ['2027-02-11T08:01:00.000Z', `cron:${id}:2027-02-11T08:01:00.000Z`],
        ['2027-02-11T08:02:00.000Z', `cron:${id}:2027-02-11T08:02:00.000Z`],
      ]);
      expect(runs[0]).toMatchObject({
        ...{ state: 'completed', metadata: { owner: 'ops', cron_schedule_id: id }, namespace: 'fulfilment' },
        context: { data: {}, config: {} },
      });
      expect(await read(id)).toMatchObject({
        ...{ next_fire_at: '2027-02-11T08:03:00.000Z', last_triggered_at: '2027-02-11T08:02:00.000Z' },
      });
    });

    it('fire by the second without waiting for a sweep [CRON-1]', async () => {
      const id = await schedule({ cron_expr: '*/20 * * * * *' });
      await api.time.pass(61_000);
      expect(await startsOf(id)).toEqual(['08:00:20', '08:00:40', '08:01:00']);
    });

    it('of the same expression each start their own (B53)', async () => {
      const [one, two] = [await schedule(), await schedule()];
      await api.time.pass(60_500);
      expect([await startsOf(one), await startsOf(two)]).toEqual([['08:01:00'], ['08:01:00']]);
    });

    it('that are disabled do not fire, and after a pause there is no burst [CRON-6] (B55)', async () => {
      const id = await schedule({ enabled: false });
      expect((await read(id)).next_fire_at).toBeNull();
      await api.time.pass(90_000);
      expect(await runsOf(id)).toEqual([]);
      expect((await change(id, { enabled: true })).body).toMatchObject({
        ...{ enabled: true, next_fire_at: '2027-02-11T08:02:00.000Z', cron_expr: '* * * * *' },
      });
      await api.time.pass(40_000);
      await change(id, { enabled: false });
      await api.time.pass(1_200_000);
      await change(id, { enabled: true });
      await api.time.pass(60_000);
      expect(await startsOf(id)).toEqual(['08:02:00', '08:23:00']);
    });

    it('with the policy skip leave occurrences out while an instance runs, and count them [CRON-5]', async () => {
      const id = await schedule({ sequence_id: sleeper, overlap_policy: 'skip' });
      await api.time.pass(270_000);
      expect(await startsOf(id)).toEqual(['08:01:00', '08:04:00']);
      expect(await read(id)).toMatchObject({ skipped_fires: 2, last_skipped_at: '2027-02-11T08:03:00.000Z' });
    });

    it('with the policy buffer_one start one more when the instance has ended [CRON-5] (D13)', async () => {
      const id = await schedule({
        sequence_id: sleeper,
        overlap_policy: 'buffer_one',
        cron_expr: '1-4 8 * * *',
      });
      await api.time.pass(660_000);
      // 08:01 runs until 08:03:30; 08:02 is held back, 08:03 dropped; 08:04 waits for the one of 08:03:30.
      const runs = await runsOf(id);
      expect(runs.map((run) => run.idempotency_key.slice(-13, -5))).toEqual([
        '08:01:00',
        '08:02:00',
        '08:04:00',
      ]);
      const [, second, third] = runs.map((run) => Date.parse(run.created_at));
      expect(second).toBeGreaterThanOrEqual(Date.parse('2027-02-11T08:03:30Z'));
      expect(second).toBeLessThanOrEqual(Date.parse('2027-02-11T08:03:36Z'));
      expect(third).toBeGreaterThanOrEqual((second ?? 0) + 150_000);
      expect(third).toBeLessThanOrEqual((second ?? 0) + 156_000);
      expect(await read(id)).toMatchObject({ skipped_fires: 1 });
    });

    it('with the policy cancel_previous cancel the instance before and start at once [CRON-5]', async () => {
      const id = await schedule({ sequence_id: sleeper, overlap_policy: 'cancel_previous' });
      await api.time.pass(180_500);
      expect((await runsOf(id)).map((run) => [run.created_at.slice(11, 19), run.state])).toEqual([
        ['08:01:00', 'cancelled'],
        ['08:02:00', 'cancelled'],
        ['08:03:00', 'running'],
      ]);
    });

    it('with the policy allow let instances overlap [CRON-5]', async () => {
      const id = await schedule({ sequence_id: sleeper });
      await api.time.pass(120_500);
      expect((await runsOf(id)).map((run) => run.state)).toEqual(['running', 'running']);
    });

    it('whose sequence takes other data move on without an instance', async () => {
      const picky = await published(api as never, {
        ...{ name: 'picky', input_schema: { type: 'object', required: ['order'] } },
      });
      const id = await schedule({ sequence_id: picky });
      await api.time.pass(60_500);
      expect(await runsOf(id)).toEqual([]);
      expect(await read(id)).toMatchObject({
        next_fire_at: '2027-02-11T08:02:00.000Z',
        last_triggered_at: null,
      });
      expect(api.logged.join()).toContain('a schedule could not start its sequence');
    });

    it('are previewed, also across a clock change and while disabled [CRON-6] (D09)', async () => {
      const id = await schedule({ cron_expr: '0 9 * * 1-5', timezone: 'America/New_York', enabled: false });
      const fires = async (query: string): Promise<Body> =>
        (await api.call('GET', `/cron/${id}/next-fires${query}`)).body;
      expect(await fires('?n=3')).toMatchObject({
        timezone: 'America/New_York',
        fires: ['2027-02-11T14:00:00.000Z', '2027-02-12T14:00:00.000Z', '2027-02-15T14:00:00.000Z'],
      });
      expect((await fires('')).fires).toHaveLength(5);
      expect((await fires('?n=0')).fires).toHaveLength(1);
      const many = (await fires('?n=900')).fires;
      expect(many).toHaveLength(50);
      expect(many).toContain('2027-03-15T13:00:00.000Z');
    });

    it('are listed, changed and deleted by their tenant, and deleted with their version [CRON-6]', async () => {
      const [one, two] = [await schedule(), await schedule({ sequence_id: sleeper })];
      const list = async (query = '', tenant = TENANT): Promise<readonly string[]> =>
        (await api.call('GET', `/cron${query}`, { tenant })).body.map((found: Body) => found.id);
      expect(await list()).toEqual([one, two]);
      expect(await list('?limit=1&offset=1')).toEqual([two]);
      expect(await list(`?tenant_id=${TENANT}`, OTHER_TENANT)).toEqual([]);
      expect((await api.call('DELETE', `/cron/${one}`)).status).toBe(204);
      expect((await api.call('DELETE', `/cron/${one}`)).status).toBe(404);
      expect((await api.call('DELETE', `/sequences/${sleeper}`)).status).toBe(204);
      expect((await api.call('GET', `/cron/${two}`)).status).toBe(404);
      for (const path of [`/cron/${one}`, `/cron/${one}/next-fires`]) {
        expect((await api.call('GET', path)).status).toBe(404);
      }
      await api.time.pass(120_000);
      expect((await api.call('GET', '/instances')).body.items).toEqual([]);
    });
  });
}
