import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { startBody } from '../api/support/documents.ts';
import { forEach, gate, loop, parallel, probing, retry, sleeping, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Wakes and stuck runs: scenarios B9 to B17. */
export function describeWakes(stage: Stage): void {
  describe(`wakes over ${stage.backend}`, () => {
    it.each([
      ['a root step', (block: JsonObject) => [block]],
      [
        'a step in a branch in a loop',
        (block: JsonObject) => [loop('l', [parallel('b', [block])], { max_iterations: 1 })],
      ],
    ])('B9: without any message the sweep finds the retry of %s', async (_, around) => {
      const host = stage.functions();
      stage.probe.answer('p', (nth) => (nth === 0 ? { status: 503 } : {}));
      const id = await stage.run(around(probing('p', { retry: retry(3, 2_000) })));
      await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('scheduled');
      await stage.pass(1_900);
      await stage.drive(host.sweep());
      expect(stage.probe.count('p')).toBe(1);
      await stage.pass(1_100);
      await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('completed');
      expect(stage.probe.count('p')).toBe(2);
    });

    it('B11: of 200 answers that race with the wait for them none is lost', async () => {
      const host = stage.server({ engine: { maxTurns: 256, maxConcurrentSteps: 256 } });
      const choices = ['go', 'stop'].map((value) => ({ label: value, value }));
      stage.probe.answer('p', (nth) => ({ takesMs: (nth * 13) % 40 }));
      const sequenceId = await stage.publish([probing('p'), gate('go', { choices, timeout: 5_000 })]);
      const one = async (n: number): Promise<string> => {
        const { body } = await host.call('POST', '/instances', { body: startBody(sequenceId) });
        await new Promise<void>((resolve) => stage.world.time.at(stage.now + ((n * 37) % 51), resolve));
        const signal = { signal_type: { custom: 'human_input:go' }, payload: { value: 'go' } };
        const sent = await host.call('POST', `/instances/${body.id}/signals`, { body: signal });
        expect(sent.status).toBe(201);
        return body.id;
      };
      await stage.drive(Promise.all(Array.from({ length: 200 }, (_, n) => one(n))));
      await stage.pass(6_000);
      const { items } = await stage.get('/instances?limit=1000');
      const ends = items.map((run: { state: string; context: { data: unknown } }) => [
        run.state,
        run.context.data,
      ]);
      expect(ends).toHaveLength(200);
      expect(
        ends.filter(([state, data]: [string, { go?: string }]) => state !== 'completed' || data.go !== 'go'),
      ).toEqual([]);
    });

    it.each([
      ['at the root', (block: JsonObject) => [block]],
      ['in an item in a branch', (block: JsonObject) => [parallel('b', [forEach('e', [block])])]],
    ])('B13: a wait %s that was answered in time is not touched by its time-out', async (_, around) => {
      const host = stage.functions();
      const id = await stage.run(around(gate('ask', { timeout: 5_000 })), { context: { data: { xs: [1] } } });
      await stage.drive(host.sweep());
      await stage.pass(1_000);
      await stage.answer(id, 'ask');
      await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('completed');
      const rows = await stage.outputs(id);
      await stage.pass(9_000);
      await stage.drive(host.sweep());
      await stage.drive(host.deliver(id));
      expect([await stage.stateOf(id), await stage.outputs(id)]).toEqual(['completed', rows]);
    });

    it.each([
      ['a sleep', sleeping('nap', 3_600_000)],
      ['a delay', step('nap', { delay: { duration: 3_600_000 } })],
      ['a wait for a retry', tryCatch('t', [probing('nap', { retry: retry(2, 3_600_000) })], [])],
    ])(
      'B17: %s of an hour asks no queue for more than 900 s, and ends within a sweep of its instant',
      async (_, block) => {
        const host = stage.functions();
        stage.probe.answer('nap', (nth) => (nth === 0 ? { status: 500 } : {}));
        const id = await stage.run([block]);
        await stage.drive(host.sweep());
        const begunAt = stage.now;
        while (stage.now + 60_000 < begunAt + 3_600_000) {
          await stage.pass(
            600_000 > begunAt + 3_540_000 - stage.now ? begunAt + 3_599_000 - stage.now : 600_000,
          );
          for (const { instanceId } of host.queue.splice(0)) await stage.drive(host.deliver(instanceId));
          await stage.drive(host.sweep());
          expect(await stage.stateOf(id)).not.toBe('completed');
        }
        expect(host.queue.filter(({ delayMs }) => delayMs > 900_000)).toEqual([]);
        await stage.pass(61_000);
        await stage.drive(host.sweep());
        expect(await stage.stateOf(id)).toBe('completed');
      },
    );
  });
}
