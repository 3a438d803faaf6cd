import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { loop, parallel, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

const at = (instant: string): number => Date.parse(instant);

/** Time: scenarios D01 to D07. */
export function describeTime(stage: Stage): void {
  describe(`time over ${stage.backend}`, () => {
    /** Starts blocks at an instant, with functions that do nothing by themselves. */
    const startAt = async (instant: string, blocks: readonly JsonObject[], overrides: JsonObject = {}) => {
      const host = stage.functions();
      await stage.pass(at(instant) - stage.now);
      const id = await stage.run(blocks, overrides);
      await stage.drive(host.sweep());
      return { host, id };
    };
    const dueAt = async (id: string): Promise<string | null> =>
      (await stage.get(`/instances/${id}`)).next_fire_at;

    it.each([
      ['at the root', (block: JsonObject) => [step('a'), block]],
      [
        'in a branch in a loop',
        (block: JsonObject) => [loop('l', [parallel('p', [block], [step('a')])], { max_iterations: 1 })],
      ],
    ])('D01: a delay of two days %s is served once, and only then', async (_, around) => {
      const delayed = around(step('b', { delay: { duration: 172_800_000 } }));
      // 2027-02-15 is a Monday.
      const { host, id } = await startAt('2027-02-15T10:00:00Z', delayed);
      for (const instant of ['2027-02-15T18:00', '2027-02-16T10:00', '2027-02-17T09:59']) {
        await stage.pass(at(`${instant}:00Z`) - stage.now);
        await stage.drive(host.sweep());
        expect(await stage.ran(id)).not.toContain('b');
        expect(await dueAt(id)).toBe('2027-02-17T10:00:00.000Z');
      }
      await stage.pass(60_000);
      await stage.drive(host.sweep());
      expect(await stage.ran(id)).toContain('b');
      expect(await stage.stateOf(id)).toBe('completed');
    });

    it('D03: a delay in business days goes past a weekend and a holiday of the configuration', async () => {
      const delay = { duration: 3_600_000, business_days_only: true };
      // Friday 23:30 in Berlin; the Monday after it is a holiday, the entries that are no dates are none.
      const { id } = await startAt('2027-02-12T22:30:00Z', [parallel('p', [step('b', { delay })])], {
        timezone: 'Europe/Berlin',
        context: { config: { holidays: ['2027-02-15', 7, 'soon'] } },
      });
      expect(await dueAt(id)).toBe('2027-02-15T23:30:00.000Z');
    });

    it.each([
      ['2027-03-28T02:30:00', 'Europe/Berlin', '2027-03-28T01:30:00.000Z'],
      ['2027-10-31T02:30:00', 'Europe/Berlin', '2027-10-31T00:30:00.000Z'],
      ['2027-03-14T02:30:00', 'America/New_York', '2027-03-14T07:30:00.000Z'],
      ['2027-10-03T02:15:00', 'Australia/Lord_Howe', '2027-10-02T15:45:00.000Z'],
    ])('D05: the local time %s in %s is %s', async (local, timezone, instant) => {
      const delay = { duration: 0, fire_at_local: local };
      const { id } = await startAt('2027-02-12T00:00:00Z', [loop('l', [step('b', { delay })])], { timezone });
      expect(await dueAt(id)).toBe(instant);
    });

    it.each([
      ['2027-02-12T23:00:00Z', 'UTC', null],
      ['2027-02-12T05:59:59Z', 'UTC', null],
      ['2027-02-12T06:00:00Z', 'UTC', '2027-02-12T22:00:00.000Z'],
      ['2027-02-13T04:00:00Z', 'America/New_York', null],
      ['2027-02-12T11:00:00Z', 'America/New_York', '2027-02-13T03:00:00.000Z'],
    ])('D07: with a window of 22 to 6 a step at %s in %s waits until %s', async (now, timezone, until) => {
      const window = step('b', { send_window: { start_hour: 22, end_hour: 6 } });
      const { host, id } = await startAt(now, [parallel('p', [window])], { timezone });
      expect(await stage.stateOf(id)).toBe(until === null ? 'completed' : 'scheduled');
      if (until === null) return;
      expect([await dueAt(id), (await stage.nodes(id))['b'].reason]).toEqual([until, 'send_window']);
      await stage.pass(at(until) - stage.now);
      await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('completed');
    });
  });
}
