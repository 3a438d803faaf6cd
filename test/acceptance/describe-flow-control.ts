import { describe, expect, it } from 'vitest';
import { TENANT } from '../api/support/api-fixture.ts';
import { startBody } from '../api/support/documents.ts';
import { parallel, sleeping, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Flow control: scenarios B57, B59, F05 and F09; rates, breakers and pools stand with the API. */
export function describeFlowControl(stage: Stage): void {
  describe(`flow control over ${stage.backend}`, () => {
    it('B57: a key of two is never used by more, and each end lets exactly one in', async () => {
      const blocks = [parallel('p', [sleeping('nap', 36_000_000)], [step('x')])];
      const sequenceId = await stage.publish(blocks);
      const ids: string[] = [];
      const key = { concurrency_key: 'depot', max_concurrency: 2 };
      for (let n = 0; n < 12; n += 1) ids.push(await stage.start(sequenceId, key));
      const running = async (): Promise<readonly string[]> => {
        await stage.pass(5_000);
        const { items } = await stage.get('/instances?state=running&limit=100');
        expect(items.length).toBeLessThanOrEqual(2);
        return items.map((run: { id: string }) => run.id).toSorted();
      };
      const patch = (id: string | undefined) =>
        stage.call('PATCH', `/instances/${id}/state`, { body: { state: 'cancelled' } });
      const [one, two] = await running();
      expect(two).toBeDefined();
      await patch(one);
      const second = await running();
      expect([second.length, second.includes(two ?? '')]).toEqual([2, true]);
      const queued = ids.find((id) => !second.includes(id) && id !== one);
      await patch(queued);
      expect(await running()).toEqual(second);
      const bulk = { filter: { states: ['running'] }, state: 'cancelled' };
      expect((await stage.call('PATCH', '/instances/bulk/state', { body: bulk })).body).toEqual({ count: 2 });
      const third = await running();
      expect(third).toHaveLength(2);
      expect(third.filter((id) => second.includes(id))).toEqual([]);
      expect((await stage.get('/instances?state=scheduled&limit=100')).items).toHaveLength(12 - 6);
    });

    it('B59: one run of key B starts within two sweeps beside 10,000 that wait for key A', {
      timeout: 240_000,
    }, async () => {
      const host = stage.functions();
      const sequenceId = await stage.publish([sleeping('nap', 36_000_000)]);
      const key = { concurrency_key: 'A', max_concurrency: 1 };
      const instances = Array.from({ length: 10_000 }, () => startBody(sequenceId, key));
      expect((await stage.post('/instances/batch', { instances })).body).toEqual({ count: 10_000 });
      await stage.drive(host.sweep());
      const b = await stage.start(sequenceId, { concurrency_key: 'B', max_concurrency: 1 });
      for (let sweeps = 0; sweeps < 2; sweeps += 1) {
        await stage.drive(host.sweep());
        await stage.pass(60_000);
      }
      expect(await stage.stateOf(b)).toBe('running');
      expect((await stage.get('/instances?state=running&limit=100')).items).toHaveLength(2);
    });

    it('F05: of nine runs with 3 mails a minute 3, 6 and 9 have sent, in a branch of a loop', async () => {
      const limit = { max_count: 3, window_seconds: 60 };
      await stage.call('PUT', `/tenants/${TENANT}/rate-limits/mail-7`, { body: limit });
      const send = step('send', { rate_limit_key: 'mail-{{ data.depot }}' });
      const loop = {
        type: 'loop',
        id: 'l',
        condition: 'true',
        max_iterations: 1,
        body: [parallel('p', [send])],
      };
      const sequenceId = await stage.publish([loop]);
      for (let n = 0; n < 9; n += 1) await stage.start(sequenceId, { context: { data: { depot: 7 } } });
      for (const sent of [3, 6, 9]) {
        await stage.calm();
        expect((await stage.get('/instances?state=completed')).items).toHaveLength(sent);
        await stage.pass(60_000);
      }
      expect((await stage.get('/instances?state=failed')).items).toEqual([]);
    });

    it('F09: with a cap of two of each tenant in a claim, a tenant of two is not held up by one of fifty', async () => {
      const host = stage.functions({ engine: { maxInstancesPerTenant: 2, maxTurns: 4 } });
      for (const [tenant, count] of [
        ['saltmarsh', 50],
        ['dunes', 2],
      ] as const) {
        const call = (path: string, body: unknown) => stage.call('POST', path, { body, tenant });
        const id = `${tenant === 'dunes' ? '1' : '2'}0000000-0000-4000-8000-000000000001`;
        const url = `https://probe.example/${tenant}`;
        const block = step('p', { handler: 'http_request', params: { url } });
        const created = { created_at: '2027-02-11T07:45:00.000Z', version: 1, name: 's', namespace: 'n' };
        await call('/sequences', { id, tenant_id: tenant, blocks: [block], ...created });
        const instances = Array.from({ length: count }, () =>
          startBody(id, { tenant_id: tenant, namespace: 'n' }),
        );
        expect((await call('/instances/batch', { instances })).status).toBe(201);
      }
      await stage.drive(host.sweep());

      expect(stage.probe.count('dunes')).toBe(2);
      expect(stage.probe.keys().lastIndexOf('dunes')).toBeLessThan(4);
      expect(stage.probe.count('saltmarsh')).toBeGreaterThan(0);
    });
  });
}
