import { describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import {
  child,
  forEach,
  gate,
  loop,
  parallel,
  probing,
  retry,
  shaping,
  sleeping,
  step,
  tryCatch,
} from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Structure: scenarios B27, B35 and B37; the others stand with the fan-out of the API. */
export function describeStructure(stage: Stage): void {
  describe(`structure over ${stage.backend}`, () => {
    const sleepingChild = async (): Promise<string> => {
      const name = `child-${nextId()}`;
      await stage.publish([sleeping('nap', 600_000)], { name });
      return name;
    };
    const cancelChild = async (id: string): Promise<void> => {
      await stage.until(id, 'waiting');
      const [only] = await stage.get(`/instances/${id}/children`);
      await stage.signal(only.id, 'cancel');
    };
    const seen = shaping('seen', { code: '{{ data._error.errors }}' });

    it.each([
      ['at the root', (name: string) => tryCatch('t', [child('c', name)], [seen])],
      [
        'in an item in a branch',
        (name: string) =>
          parallel('b', [forEach('e', [tryCatch('t', [child('c', name)], [seen])])], [step('x')]),
      ],
    ])('B27: the catch %s sees that its child was cancelled, and not that it failed', async (_, around) => {
      const id = await stage.run([around(await sleepingChild())], { context: { data: { xs: [1] } } });
      await cancelChild(id);
      expect((await stage.until(id)).state).toBe('completed');
      const row = (await stage.outputs(id)).find(({ block_id: block }) => block === 'seen');
      expect(row.output.code).toMatchObject([{ block_id: 'c', code: 'CHILD_CANCELLED' }]);
    });

    it('B27: without a catch the parent says which child was cancelled', async () => {
      const id = await stage.run([child('c', await sleepingChild())]);
      await cancelChild(id);
      expect((await stage.until(id)).state).toBe('failed');
      const [only] = await stage.get(`/instances/${id}/children`);
      expect((await stage.outputs(id)).at(-1)).toMatchObject({
        output: { code: 'CHILD_CANCELLED', details: { child_instance_id: only.id } },
      });
    });

    it('B35: a retry in a loop in a branch in a try keeps its 2 s between two calls', async () => {
      stage.probe.answer('p', (nth) => (nth % 3 === 2 ? {} : { status: 500 }));
      const body = [parallel('b', [probing('p', { retry: retry(3, 2_000) })], [step('x')])];
      const id = await stage.run([tryCatch('t', [loop('l', body, { max_iterations: 2 })], [])]);
      expect((await stage.until(id)).state).toBe('completed');
      const times = stage.probe.times('p');
      expect(times).toHaveLength(6);
      for (const [a, b] of [
        [0, 1],
        [1, 2],
        [3, 4],
        [4, 5],
      ] as const) {
        expect((times[b] ?? 0) - (times[a] ?? 0)).toBeGreaterThanOrEqual(2_000);
      }
    });

    it('B37: a step, a wait and the step of a child with a deadline of 3 s all end by it', async () => {
      const name = `child-${nextId()}`;
      const late = { deadline: 3_000 };
      await stage.publish([step('inner', { handler: 'nobody', ...late })], { name });
      const id = await stage.run([
        parallel(
          'b',
          [step('work', { handler: 'nobody', ...late })],
          [gate('ask', {}, late)],
          [tryCatch('t', [child('c', name)], [seen])],
        ),
      ]);
      const beganAt = stage.now;
      expect((await stage.until(id)).state).toBe('failed');
      expect(stage.now - beganAt).toBeLessThanOrEqual(3_000 + 60_000);
      const nodes = await stage.nodes(id);
      expect(nodes['work'].error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(nodes['ask'].error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(nodes['c'].error).toMatchObject({ code: 'CHILD_FAILED' });
      const [only] = await stage.get(`/instances/${id}/children`);
      expect((await stage.nodes(only.id))['inner'].error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(await stage.poll('nobody')).toBeUndefined();
    });
  });
}
