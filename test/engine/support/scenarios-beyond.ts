import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { Scenario } from './scenarios.ts';
import { TENANT, type TestEngine } from './test-engine.ts';

const step = (id: string, handler: string, members: object = {}): Json =>
  ({ type: 'step', id, handler, ...members }) as Json;

const wait = (id: string, params: JsonObject): Json =>
  step(id, 'wait_for_event', {
    // Each event is taken by one wait: runs beside each other must not take those of another.
    params: { correlation_key: '{{instance_id}}', ...params },
    wait_for_input: { prompt: 'Go on without?' },
  });

/** One and the same event for this run, however often it is sent: its producer's id says so. */
async function produce(
  world: TestEngine,
  instanceId: string,
  eventName: string,
  which: string,
): Promise<void> {
  const { match } = await world.store.acceptEvent({
    id: world.nextId(),
    tenantId: TENANT,
    eventName,
    producerEventId: `${which} of ${instanceId}`,
    correlationKey: instanceId,
    payload: { of: which },
  });
  if (match?.satisfied === true) world.look(match.instanceId);
}

async function addTrigger(world: TestEngine, slug: string, sequenceId: string): Promise<void> {
  const sequence = await world.store.getSequence(TENANT, sequenceId);
  await world.store.insertTrigger({
    slug,
    tenantId: TENANT,
    namespace: 'fulfilment',
    sequenceName: sequence?.name ?? '',
    version: null,
    enabled: true,
    secret: null,
    triggerType: 'event',
    config: null,
  });
}

/** Steps that reach beyond their instance, and waits that something outside of all instances ends. */
export const scenariosBeyond: readonly Scenario[] = [
  {
    name: 'events',
    publish: (world) =>
      world.publish([
        step('a', 'quick'),
        {
          type: 'parallel',
          id: 'all',
          branches: [
            [
              wait('both', { events: ['paid', 'packed'] }),
              step('b', 'quick', { params: { of: '{{outputs.both.matched}}' } }),
            ],
            [
              {
                type: 'loop',
                id: 'rounds',
                condition: 'true',
                max_iterations: 2,
                body: [wait('each', { events: 'tick', join: 'any' }), step('c', 'slow')],
              },
            ],
          ],
        },
        step('after', 'quick'),
      ]),
    outside: async (world, id, elapsedMs) => {
      await produce(world, id, 'packed', 'k-1');
      if (elapsedMs >= 1000) await produce(world, id, 'tick', 't-1');
      if (elapsedMs >= 2000) await produce(world, id, 'tick', 't-2');
      if (elapsedMs >= 3000) await produce(world, id, 'paid', 'p-1');
    },
  },
  {
    name: 'signals and emitted events',
    publish: async (world) => {
      const answer = {
        instance_id: '{{data.asker}}',
        signal_type: { custom: 'human_input:ask' },
        payload: { value: 'yes' },
      };
      const answering = [step('x', 'quick'), step('answer', 'send_signal', { params: answer })];
      await addTrigger(world, 'answering', await world.publish(answering));
      const emit = { trigger_slug: 'answering', data: { asker: '{{instance_id}}' }, dedupe_key: 'one' };
      const self = {
        instance_id: '{{instance_id}}',
        signal_type: 'update_context',
        payload: { data: { told: 1 } },
      };
      return world.publish([
        step('start_it', 'emit_event', { params: emit }),
        step('again', 'emit_event', { params: emit }),
        step('tell', 'send_signal', { params: self }),
        step('heard', 'quick', { params: { of: '{{data.told}}' } }),
        step('ask', 'quick', { wait_for_input: { prompt: 'Heard of it?' } }),
        step('look', 'query_instance', { params: { instance_id: '{{outputs.start_it.instance_id}}' } }),
        step('after', 'quick', { params: { found: '{{outputs.look.found}}' } }),
      ]);
    },
    // What the other run has done when it is looked at depends on who was down.
    alsoFine: ({ start_it, again, heard, after }) =>
      isDeduped(start_it, false) && isDeduped(again, true) && heard !== undefined && after !== undefined,
  },
  {
    name: 'escalations',
    publish: (world) => {
      const tell = { signal_type: 'update_context', payload: { data: { told: 1 } } };
      return world.publish([
        {
          type: 'try_catch',
          id: 't',
          try_block: [
            step('late', 'slow', {
              deadline: 50,
              on_deadline_breach: { handler: 'send_signal', params: tell },
            }),
          ],
          // What was said is heard before anything that follows, and is not said without the breach.
          catch_block: [step('heard', 'assert', { params: { condition: 'data.told == 1' } })],
        },
        step('ask', 'quick', {
          wait_for_input: { prompt: 'Well?', timeout: 500, escalation_handler: 'query_instance' },
        }),
        step('after', 'quick'),
      ]);
    },
    // How late it was depends on who was down.
    alsoFine: ({ late, heard, ask, after }) =>
      [late, heard, ask, after].every((output) => output !== undefined),
  },
];

function isDeduped(output: Json | undefined, deduped: boolean): boolean {
  return (
    typeof output === 'object' && output !== null && 'deduped' in output && output['deduped'] === deduped
  );
}
