import { describe, expect, it } from 'vitest';
import { loop, parallel, probing, retry, sleeping, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** The signs of life of a process that has its database for itself, or of functions. */
const NODE = { name: 'idle', beatMs: 5_000, silentMs: 120_000, reapEveryMs: 60_000 };

/** What the store is asked meanwhile; each call is one statement. */
async function storeCallsIn(stage: Stage, work: () => Promise<void>): Promise<Record<string, number>> {
  stage.world.storeCalls.clear();
  await work();
  return Object.fromEntries(stage.world.storeCalls);
}

/** Operations and hosting: scenarios B63 to B71. */
export function describeOperations(stage: Stage): void {
  describe(`operations over ${stage.backend}`, () => {
    it('B63: a retry after the probe is mended runs what failed and what follows, and nothing else', async () => {
      stage.probe.answer('b', (nth) => (nth === 0 ? { status: 404 } : {}));
      const body = [probing('a'), parallel('p', [probing('b'), probing('c')], [probing('d')]), probing('e')];
      const id = await stage.run([loop('l', body, { max_iterations: 1 }), probing('f')]);
      expect((await stage.until(id)).state).toBe('failed');
      expect((await stage.post(`/instances/${id}/retry`)).body).toEqual({ id, state: 'scheduled' });
      expect((await stage.until(id, 'completed')).state).toBe('completed');
      const counts = Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => [key, stage.probe.count(key)]),
      );
      expect(counts).toEqual({ a: 1, b: 2, c: 1, d: 1, e: 1, f: 1 });
      const rows = (await stage.ran(id)).filter((block) => block !== 'l');
      expect(rows.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    });

    it('B67: a local server that idles for ten minutes sends one statement a sweep, with one sleep due in an hour', async () => {
      stage.server({ engine: { node: NODE } });
      await stage.run([sleeping('nap', 3_600_000)]);
      await stage.calm();
      expect(await storeCallsIn(stage, () => stage.pass(600_000))).toEqual({ lookForWork: 10 });
    });

    it('B67: a server whose sweep is off sends none in ten minutes', async () => {
      stage.server({ engine: { node: NODE, sweepMs: 2_000_000_000 } });
      await stage.run([sleeping('nap', 3_600_000)]);
      await stage.calm();
      expect(await storeCallsIn(stage, () => stage.pass(600_000))).toEqual({});
    });

    it('B67: functions that idle for ten minutes send one statement a sweep, with one sleep due in an hour', async () => {
      const host = stage.functions({ engine: { node: NODE } });
      const id = await stage.run([sleeping('nap', 3_600_000)]);
      await stage.drive(host.deliver(id));
      const asked = await storeCallsIn(stage, async () => {
        for (let sweeps = 0; sweeps < 10; sweeps += 1) {
          await stage.pass(60_000);
          await stage.drive(host.sweep());
        }
      });
      expect(asked).toEqual({ lookForWork: 10 });
    });

    it('B67: functions whose sweep is off send none in ten minutes', async () => {
      const host = stage.functions({ engine: { node: NODE } });
      const id = await stage.run([sleeping('nap', 3_600_000)]);
      await stage.drive(host.deliver(id));
      expect(await storeCallsIn(stage, () => stage.pass(600_000))).toEqual({});
    });

    it('B69: the last steps of a chain of 1,000 cost as many calls of the database as the first', async () => {
      const steps = Array.from({ length: 1_000 }, (_, n) => step(`s${n}`));
      const cost = async (count: number): Promise<number> => {
        const sequenceId = await stage.publish(steps.slice(0, count));
        stage.world.storeCalls.clear();
        const id = await stage.start(sequenceId);
        expect((await stage.until(id)).context.runtime.total_steps_executed).toBe(count);
        return (stage.world.storeCalls.get('commit') ?? 0) + (stage.world.storeCalls.get('claimOne') ?? 0);
      };
      const [short, long] = [await cost(100), await cost(1_000)];
      expect(long).toBeLessThanOrEqual(10 * short);
    });

    it('B69: each step with an effect in a chain of 100 costs one commit', async () => {
      const sequenceId = await stage.publish(Array.from({ length: 100 }, (_, n) => probing(`s${n}`)));
      stage.world.storeCalls.clear();
      const id = await stage.start(sequenceId);
      await stage.until(id, 'completed');
      expect(stage.world.storeCalls.get('commit')).toBeLessThanOrEqual(101);
    });

    it.each([-300_000, 300_000])(
      'B71: a process whose clock is off by %i ms keeps to the clock of the database',
      async (skewMs) => {
        stage.server({ skewMs });
        stage.probe.answer('p', (nth) => (nth === 0 ? { status: 500 } : {}));
        const beganAt = stage.now;
        const late = step('late', { handler: 'nobody', deadline: 90_000 });
        const id = await stage.run([
          sleeping('nap', 30_000),
          step('delayed', { delay: { duration: 30_000 } }),
          probing('p', { retry: retry(2, 30_000) }),
          { type: 'try_catch', id: 't', try_block: [late], catch_block: [] },
        ]);
        await stage.until(id, 'waiting');
        const offset = stage.now - beganAt - 90_000;
        expect(offset).toBeGreaterThanOrEqual(0);
        expect(offset).toBeLessThan(1_000);
        expect((await stage.until(id)).state).toBe('completed');
        const [row] = (await stage.outputs(id)).filter(({ block_id: block }) => block === 'late');
        expect(row.output._elapsed_ms - 90_000).toBeGreaterThanOrEqual(0);
        expect(stage.now - beganAt).toBeLessThan(182_000);
      },
    );

    it('B71: a lease is as long as the database says, whatever the clock of a process', async () => {
      stage.probe.answer('p', { takesMs: 5_000 });
      stage.server({ name: 'ahead', skewMs: 300_000 });
      const id = await stage.run([probing('p')]);
      await stage.calm();
      const [ahead, behind] = [stage.functions({ skewMs: 300_000 }), stage.functions({ skewMs: -300_000 })];
      await stage.drive(ahead.sweep());
      await stage.drive(behind.sweep());
      expect((await stage.until(id)).state).toBe('completed');
      expect(stage.probe.count('p')).toBe(1);
      expect((await stage.get(`/instances/${id}`)).recovery_count ?? 0).toBe(0);
    });
  });
}
