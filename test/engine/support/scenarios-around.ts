import type { Json } from '../../../src/core/json.ts';
import type { Scenario } from './scenarios.ts';

const step = (id: string, handler: string, members: object = {}): Json =>
  ({ type: 'step', id, handler, ...members }) as Json;

const RETRY = { max_attempts: 4, initial_backoff: 400, max_backoff: 5000 };

/** What runs around the steps: hooks, interceptors and alerts, met by the same faults as everything else. */
export const scenariosAround: readonly Scenario[] = [
  {
    name: 'hooks after a failure',
    publish: (world) =>
      world.publish([step('a', 'quick'), step('x', 'refused')], {
        on_failure: [
          step('tidy', 'quick', { params: { of: '{{outputs.x.message}}' } }),
          step('stuck', 'refused'),
          step('hand', 'sweeping'),
          step('slow_one', 'slow'),
          step('note', 'set_state', { params: { key: 'told', value: true } }),
          step('tell', 'quick', { params: { of: '{{outputs.tidy.did}}' } }),
        ],
        interceptors: {
          on_failure: { handler: 'quick', invoke: true, params: { of: '{{outputs.tell.did}}' } },
        },
      }),
    outside: async (world, _, elapsedMs) => {
      const task = elapsedMs > 3000 ? await world.poll('sweeping') : null;
      if (task !== null) await world.report(task, { ok: true, output: { swept: true } });
    },
  },
  {
    name: 'hooks after a cancel',
    publish: (world) =>
      world.publish(
        [
          step('a', 'quick'),
          { type: 'cancellation_scope', id: 'keep', blocks: [step('kept', 'slow')] },
          step('nap', 'sleep', { params: { duration_ms: 900_000 } }),
        ],
        { on_cancel: [step('undo', 'quick'), step('slow_undo', 'slow')] },
      ),
    outside: async (world, instanceId, elapsedMs) => {
      if (elapsedMs < 2000 || (await world.outputs(instanceId))['kept'] === undefined) return;
      await world.signal(instanceId, 'cancel', null, { signalId: '01900000-0000-7000-9000-00000000cace' });
    },
  },
  {
    name: 'interceptors and alerts',
    publish: (world) =>
      world.publish(
        [
          {
            type: 'parallel',
            id: 'all',
            branches: [
              [step('p1', 'quick'), step('p2', 'flaky', { retry: RETRY })],
              [
                {
                  type: 'loop',
                  id: 'rounds',
                  condition: 'outputs.pull == null || outputs.pull.more',
                  body: [step('pull', 'tick'), step('note', 'log', { params: { message: 'round' } })],
                },
              ],
            ],
          },
          step('nap', 'sleep', { params: { duration_ms: 5000 } }),
          step('last', 'slow'),
        ],
        {
          interceptors: {
            before_step: { handler: 'trace', params: { to: 'watch' } },
            after_step: { handler: 'noop', invoke: true, params: { of: '{{step.id}}' } },
            on_signal: { handler: 'trace' },
            on_complete: { handler: 'trace', params: ['done'] },
          },
          sla: { max_runtime: 2000 },
        },
      ),
    outside: async (world, instanceId, elapsedMs) => {
      if (elapsedMs < 1000) return;
      await world.signal(
        instanceId,
        'custom:knock',
        { loud: true },
        { signalId: '01900000-0000-7000-9000-00000000ccce' },
      );
    },
  },
];
