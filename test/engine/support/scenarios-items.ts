import type { Json } from '../../../src/core/json.ts';
import type { Scenario } from './scenarios.ts';

const step = (id: string, handler: string, members: object = {}): Json =>
  ({ type: 'step', id, handler, ...members }) as Json;

const each = (id: string, collection: string, body: readonly Json[], members: object = {}): Json =>
  ({ type: 'for_each', id, collection, body, ...members }) as Json;

/** Items that run side by side, with everything that one item may wait for (RULINGS B25). */
export const scenariosOfItems: readonly Scenario[] = [
  {
    name: 'items side by side',
    data: { boxes: [1, 2, 3, 4] },
    publish: (world) =>
      world.publish([
        each(
          'boxes',
          'boxes',
          [
            step('weigh', 'quick', { params: { box: '{{item}}' } }),
            step('check', 'refused', { when: 'item == 2' }),
            step('send', 'slow', { params: { of: '{{outputs.weigh.did}}' } }),
          ],
          { concurrency: 2, on_item_failure: 'continue', tolerate: { count: 1 }, collect: true },
        ),
        step('after', 'quick', { params: { all: '{{outputs.boxes}}' } }),
      ]),
  },
  {
    name: 'items of workers and people',
    data: { boxes: [1, 2, 3] },
    publish: (world) =>
      world.publish([
        each(
          'boxes',
          'boxes',
          [
            step('pack', 'boxing', { params: { box: '{{item}}' } }),
            step('ask', 'quick', { wait_for_input: { prompt: 'Send {{item}}?' } }),
          ],
          { concurrency: 2, collect: true },
        ),
      ]),
    outside: async (world, instanceId, elapsedMs) => {
      const task = elapsedMs > 1000 ? await world.poll('boxing') : null;
      if (task !== null) await world.report(task, { ok: true, output: { packed: true } });
      if (elapsedMs < 2000) return;
      for (const index of [2, 0, 1]) {
        const payload = { value: 'yes', iteration: `boxes:${index}` };
        const signalId = `01900000-0000-7000-9000-0000000b0e0${index}`;
        await world.signal(instanceId, 'custom:human_input:ask', payload, { signalId });
      }
    },
  },
  {
    name: 'fan-out in a fan-out',
    data: { rows: [['a', 'b'], ['c'], ['d', 'e']] },
    publish: (world) =>
      world.publish([
        {
          type: 'try_catch',
          id: 'guard',
          try_block: [
            each(
              'rows',
              'rows',
              [
                each('cells', '{{data.row}}', [step('cell', 'quick', { params: { of: '{{item}}' } })], {
                  concurrency: 2,
                  collect: true,
                }),
                step('nap', 'sleep', { params: { duration_ms: 1000 } }),
              ],
              { concurrency: 2, item_var: 'row', collect: true },
            ),
          ],
          catch_block: [],
          finally_block: [step('last', 'quick')],
        },
      ]),
  },
  {
    name: 'fail fast and enough',
    publish: (world) =>
      world.publish([
        {
          type: 'parallel',
          id: 'enough',
          branches: [
            [step('e1', 'slow')],
            [step('e2', 'refused')],
            [step('e3', 'sleep', { params: { duration_ms: 3_600_000 } })],
          ],
          min_successful: 1,
        },
        {
          type: 'try_catch',
          id: 'guard',
          try_block: [
            {
              type: 'parallel',
              id: 'fast',
              branches: [
                [step('f1', 'sleep', { params: { duration_ms: 3_600_000 } })],
                [step('f2', 'slow'), step('f3', 'refused')],
                [step('f4', 'nobody')],
              ],
              fail_fast: true,
            },
          ],
          catch_block: [step('caught', 'quick')],
        },
      ] as Json),
  },
];
