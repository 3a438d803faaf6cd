import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Body, TENANT } from '../api/support/api-fixture.ts';
import { sleeping, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const at = (instant: string): number => Date.parse(instant);

/** Schedules: scenarios B49 to B53, D11, D15 to D19. */
export function describeSchedules(stage: Stage): void {
  describe(`schedules over ${stage.backend}`, () => {
    const create = async (cron: string, extra: JsonObject = {}) => {
      const sequenceId = await stage.publish([step('a')]);
      const body = { tenant_id: TENANT, namespace: 'n', sequence_id: sequenceId, cron_expr: cron, ...extra };
      return stage.post('/cron', body);
    };
    const runsOf = async (id: string): Promise<readonly Body[]> =>
      (await stage.get(`/instances?metadata.cron_schedule_id=${id}&limit=1000`)).items;
    const keysOf = async (id: string): Promise<readonly string[]> =>
      (await runsOf(id)).map((run) => String(run.idempotency_key)).toSorted();

    it('B49: a time in a gap is fired after it, and one that comes twice at the first', async () => {
      const { body } = await create('30 2 25-31 3,10 *', { timezone: 'Europe/Berlin' });
      const { fires } = await stage.get(`/cron/${body.id}/next-fires?n=14`);
      expect(fires).toHaveLength(14);
      // 2027-03-28 has no 02:30; 2027-10-31 has two.
      expect(fires.slice(2, 5)).toEqual([
        '2027-03-27T01:30:00.000Z',
        '2027-03-28T01:00:00.000Z',
        '2027-03-29T00:30:00.000Z',
      ]);
      expect(fires.slice(-2)).toEqual(['2027-10-30T00:30:00.000Z', '2027-10-31T00:30:00.000Z']);
    });

    it.each([
      ['1-59/2 * * * *', '2027-02-11T08:01:00.000Z'],
      ['0 0 * * 7', '2027-02-14T00:00:00.000Z'],
      ['0 9 * * mon', '2027-02-15T09:00:00.000Z'],
      ['*/20 * * * * *', '2027-02-11T08:00:20.000Z'],
      ['0 0 31 2 *', null],
      ['61 * * * *', 400],
      ['50-10 * * * *', 400],
      ['* * * *', 400],
      ['', 400],
    ])('B51, D19: the expression %j gives %s', async (cron, first) => {
      const reply = await create(cron);
      expect(typeof first === 'number' ? reply.status : reply.body.next_fire_at).toBe(first);
    });

    it.each(['@hourly', '5/15 * * * *', '0 0 L * *'])(
      'B51: the expression %j means the same in each look',
      async (cron) => {
        const replies = [await create(cron), await create(cron)];
        expect(replies[1]?.body.next_fire_at).toBe(replies[0]?.body.next_fire_at);
        expect([201, 400]).toContain(replies[0]?.status);
      },
    );

    it('B53, D15: ten sweeps at one instant start one run for each occurrence, named in its key', async () => {
      const host = stage.functions();
      const ids = [(await create('* * * * *')).body.id, (await create('* * * * *')).body.id];
      await stage.pass(60_000);
      const sweepers = Array.from({ length: 10 }, (_, n) => stage.functions({ name: `sweeper-${n}` }));
      await stage.drive(Promise.all([host, ...sweepers].map((one) => one.sweep())));
      for (const id of ids) expect(await keysOf(id)).toEqual([`cron:${id}:2027-02-11T08:01:00.000Z`]);
    });

    it('D11: an occurrence at 01:30 of the night with 25 hours is fired once, at the first one', async () => {
      const host = stage.functions();
      await stage.pass(at('2027-10-30T23:00:00Z') - stage.now);
      const { body } = await create('30 1 * * *', { timezone: 'Europe/London' });
      const fired: number[] = [];
      for (const instant of ['00:29', '00:30', '00:31', '01:29', '01:30', '01:31', '02:30']) {
        await stage.pass(at(`2027-10-31T${instant}:00Z`) - stage.now);
        await stage.drive(host.sweep());
        fired.push((await runsOf(body.id)).length);
      }
      expect(fired).toEqual([0, 1, 1, 1, 1, 1, 1]);
      expect((await stage.get(`/cron/${body.id}`)).next_fire_at).toBe('2027-11-01T01:30:00.000Z');
    });

    it('D17: of five occurrences that were missed one is made up for, with its nominal time', async () => {
      const host = stage.functions();
      const { id } = (await create('0 * * * *')).body;
      await stage.pass(5.5 * 3_600_000);
      await stage.drive(host.sweep());
      await stage.drive(host.sweep());
      expect(await keysOf(id)).toEqual([`cron:${id}:2027-02-11T13:00:00.000Z`]);
      expect((await stage.get(`/cron/${id}`)).next_fire_at).toBe('2027-02-11T14:00:00.000Z');
    });

    it('D13: of three occurrences that fell due during a run exactly one follows it', async () => {
      const host = stage.functions();
      const sequenceId = await stage.publish([sleeping('nap', 210_000)]);
      const { id } = (await create('1-4 8 * * *', { sequence_id: sequenceId, overlap_policy: 'buffer_one' }))
        .body;
      for (let minute = 1; minute <= 9; minute += 1) {
        await stage.pass(60_000);
        await stage.drive(host.sweep());
      }
      expect(await runsOf(id)).toHaveLength(2);
      for (let minute = 10; minute <= 12; minute += 1) {
        await stage.pass(60_000);
        await stage.drive(host.sweep());
      }
      const states = (await runsOf(id)).map((run) => run.state);
      expect(states).toEqual(['completed', 'completed']);
      expect((await stage.get(`/cron/${id}`)).skipped_fires).toBe(2);
    });
  });
}
