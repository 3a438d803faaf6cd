import { describe, expect, it } from 'vitest';
import { startBody } from '../api/support/documents.ts';
import { forEach, gate, loop, parallel, probing, retry, sleeping, step, tryCatch } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Claims, zombies and redelivery: scenarios B1 to B7. */
export function describeClaims(stage: Stage): void {
  describe(`claims over ${stage.backend}`, () => {
    it.each([
      ['a root step', [probing('p')]],
      [
        'a step in a branch of a loop',
        [loop('l', [parallel('b', [probing('p')], [step('q')])], { max_iterations: 1 })],
      ],
    ])('B1: a message that comes twice calls %s once, and the second is soon answered', async (_, blocks) => {
      const host = stage.functions();
      stage.probe.answer('p', { takesMs: 2_000 });
      const id = await stage.run(blocks);
      const first = host.deliver(id);
      await stage.pass(100);
      const sentAt = stage.now;
      expect(await stage.drive(host.deliver(id))).toBe('done');
      expect(stage.now - sentAt).toBeLessThan(1_000);
      expect(await stage.drive(first)).toBe('done');
      expect(await stage.stateOf(id)).toBe('completed');
      expect(stage.probe.count('p')).toBe(1);
    });

    it('B3: three tries that hang end in a time-out, and nothing is called after that', async () => {
      const host = stage.functions();
      stage.probe.answer('p', { takesMs: null });
      const id = await stage.run([probing('p', { timeout: 1_000, retry: retry(3) })]);
      for (let sweeps = 0; sweeps < 10; sweeps += 1) await stage.drive(host.sweep());
      expect(await stage.stateOf(id)).toBe('failed');
      expect((await stage.outputs(id)).at(-1)).toMatchObject({
        ...{ block_id: 'p', output_ref: '__error__', output: { code: 'TIMEOUT' } },
      });
      expect(stage.probe.count('p')).toBe(3);
      for (let sweeps = 0; sweeps < 5; sweeps += 1) {
        await stage.pass(60_000);
        await stage.drive(host.sweep());
      }
      expect(stage.probe.count('p')).toBe(3);
    });

    it('B5: 20 sweeps at once over 50 started instances call each probe once', async () => {
      const host = stage.functions();
      const sequenceId = await stage.publish([
        step('p', {
          handler: 'http_request',
          params: { url: 'https://probe.example/{{ data.n }}', response_as: 'json' },
        }),
        step('after'),
      ]);
      const instances = Array.from({ length: 50 }, (_, n) =>
        startBody(sequenceId, { context: { data: { n: `n${n}` } } }),
      );
      expect((await stage.post('/instances/batch', { instances })).status).toBe(201);
      const sweepers = Array.from({ length: 20 }, (_, n) => stage.functions({ name: `sweeper-${n}` }));
      await stage.drive(Promise.all([host, ...sweepers].map((one) => one.sweep())));
      for (const { instanceId } of sweepers.flatMap((one) => one.queue))
        await stage.drive(host.deliver(instanceId));
      expect((await stage.get('/instances?state=completed&limit=100')).items).toHaveLength(50);
      const counts = instances.map((_, n) => stage.probe.count(`n${n}`));
      expect(counts).toEqual(counts.map(() => 1));
    });

    it.each([
      ['a sleep', [sleeping('wait', 600_000)]],
      ['a gate in a branch', [parallel('b', [gate('wait')], [step('done')])]],
      [
        'a delay in an item in a try',
        [tryCatch('t', [forEach('e', [step('wait', { delay: { duration: 600_000 } })])], [])],
      ],
    ])('B7: five old messages of a run cancelled in %s change nothing', async (_, blocks) => {
      const host = stage.functions();
      const id = await stage.run([...blocks, step('never')], { context: { data: { xs: [1] } } });
      await stage.drive(host.deliver(id));
      await stage.signal(id, 'cancel');
      expect(await stage.stateOf(id)).toBe('cancelled');
      const before = [await stage.get(`/instances/${id}`), await stage.get(`/instances/${id}/tree`)];
      for (let n = 0; n < 5; n += 1) {
        expect(await stage.drive(host.deliver(id))).toBe('done');
        await stage.pass(300_000);
      }
      await stage.drive(host.sweep());
      expect([await stage.get(`/instances/${id}`), await stage.get(`/instances/${id}/tree`)]).toEqual(before);
      expect(await stage.ran(id)).not.toContain('never');
    });
  });
}
