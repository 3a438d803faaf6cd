import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { gate, parallel, shaping, step } from './support/blocks.ts';
import type { Stage } from './support/stage.ts';

/** Signals: scenarios B23 and B25; the others stand with the API. */
export function describeSignals(stage: Stage): void {
  describe(`signals over ${stage.backend}`, () => {
    it('B23: an answer that does not fit opens no gate, and one that is no signal is refused', async () => {
      const id = await stage.run([parallel('b', [gate('ask')], [step('x')])]);
      await stage.until(id, 'waiting');
      const ask = { custom: 'human_input:ask' };
      // [HI-3]: what does not fit is consumed without effect; what has not the shape of a signal is 422.
      for (const payload of [{ value: 'maybe' }, { value: 1 }, {}, [], 'yes', null]) {
        expect((await stage.signal(id, ask, payload)).status).toBe(201);
      }
      for (const body of [{}, { signal_type: 'answer' }, { signal_type: {} }, { signal_type: 7 }, []]) {
        expect((await stage.post(`/instances/${id}/signals`, body)).status).toBe(422);
      }
      await stage.pass(1_000);
      expect((await stage.nodes(id))['ask']).toMatchObject({ state: 'waiting', reason: 'input' });
      await stage.answer(id, 'ask');
      expect((await stage.until(id)).state).toBe('completed');
    });

    it.each<[Json]>([[null], [0], [false], [''], [[]], [{}]])(
      'B25: %j comes back exactly from a signal, a worker, an event and a template',
      async (value) => {
        const id = await stage.run(
          [
            step('work', { handler: 'carry' }),
            shaping('shape', {
              signal: '{{ data.sent }}',
              worker: '{{ outputs.work }}',
              whole: '{{ data }}',
            }),
          ],
          { context: { data: { key: 'k' } } },
        );
        await stage.until(id, 'waiting');
        await stage.signal(id, 'update_context', { data: { sent: value } });
        expect((await stage.complete(await stage.poll('carry'), value)).status).toBe(200);
        await stage.until(id);
        const [work, shape] = await stage.outputs(id);
        expect(work.output).toEqual(value);
        expect(shape.output).toEqual({ signal: value, worker: value, whole: { key: 'k', sent: value } });
      },
    );
  });
}
