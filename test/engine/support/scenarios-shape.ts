import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { NewChange } from '../../../src/ports/store/shape.ts';
import type { Scenario } from './scenarios.ts';
import { TENANT, type TestEngine } from './test-engine.ts';

const step = (id: string, handler: string, members: object = {}): JsonObject =>
  ({ type: 'step', id, handler, ...members }) as JsonObject;

const gate = (id: string): JsonObject => step(id, 'quick', { wait_for_input: { prompt: 'On?' } });

const CHANGE_ID = '01900000-0000-7000-9000-0000000c4a46';
const ANSWER_ID = '01900000-0000-7000-9000-0000000a4537';

/** Accepts the one change of a scenario and answers its gate afterwards; both are safe to repeat. */
async function change(world: TestEngine, instanceId: string, made: NewChange): Promise<void> {
  const request = { tenantId: TENANT, instanceId, id: CHANGE_ID, expected: 0, change: made };
  const { status } = await world.store.acceptChange(request);
  if (status === 'accepted') world.look(instanceId);
  const { shape } = await world.view(instanceId);
  if (shape === undefined || shape === null || shape.applied === 0) return;
  await world.signal(instanceId, 'custom:human_input:g', { value: 'yes' }, { signalId: ANSWER_ID });
}

async function isAtGate(world: TestEngine, instanceId: string): Promise<boolean> {
  return (await world.view(instanceId).catch(() => null))?.state === 'waiting';
}

/** Where each world published the version that its run is moved to. */
const targets = new WeakMap<TestEngine, string>();

const nest = (...inner: readonly Json[]): Json => ({
  type: 'parallel',
  id: 'p',
  branches: [[step('w', 'quick')], [{ type: 'try_catch', id: 't', try_block: inner, catch_block: [] }]],
});

/** Runs that change while they run, met by the same faults as everything else. */
export const scenariosOfShape: readonly Scenario[] = [
  {
    name: 'self_modify',
    publish: (world) =>
      world.publish([
        step('a', 'quick'),
        step('m', 'self_modify', {
          params: {
            position: 0,
            blocks: [
              step('x', 'slow'),
              step('y', 'quick', { params: { of: { $raw: '{{outputs.x.did}}' } } }),
            ],
          },
        }),
        {
          type: 'parallel',
          id: 'p',
          branches: [
            [step('n', 'self_modify', { params: { blocks: [step('z', 'quick')] } })],
            [step('q', 'slow')],
          ],
        },
        step('b', 'quick', { params: { of: '{{outputs.y.did}}' } }),
      ]),
  },
  {
    name: 'injected blocks',
    publish: (world) => world.publish([step('a', 'slow'), step('b', 'quick'), gate('g'), step('c', 'quick')]),
    outside: async (world, instanceId) => {
      if (!(await isAtGate(world, instanceId))) return;
      const blocks = [
        step('x', 'slow'),
        { type: 'cancellation_scope', id: 's', blocks: [step('y', 'quick')] },
      ];
      await change(world, instanceId, { kind: 'inject', blocks, position: 1, before: 'b', after: 'a' });
    },
  },
  {
    name: 'migration',
    publish: async (world) => {
      targets.set(
        world,
        await world.publish([
          step('n', 'quick'),
          step('a', 'slow'),
          nest(step('m', 'quick'), gate('g')),
          step('c', 'slow'),
        ]),
      );
      return world.publish([step('a', 'slow'), nest(gate('g'), step('gone', 'quick')), step('b', 'quick')]);
    },
    outside: async (world, instanceId) => {
      const sequenceId = targets.get(world);
      if (sequenceId === undefined || !(await isAtGate(world, instanceId))) return;
      await change(world, instanceId, { kind: 'migrate', sequenceId, replaced: [] });
    },
  },
];
