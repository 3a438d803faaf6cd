import type { Json } from '../../../src/core/json.ts';
import type { StepCall, StepOutcome } from '../../../src/ports/step-handler.ts';
import type { Script } from './ledger.ts';
import { scenariosAround } from './scenarios-around.ts';
import { scenariosBeyond } from './scenarios-beyond.ts';
import { scenariosOfItems } from './scenarios-items.ts';
import { scenariosOfShape } from './scenarios-shape.ts';
import { scenariosOfLimits } from './scenarios-limits.ts';
import type { TestEngine } from './test-engine.ts';

/** A sequence that stands for its kind, with the people and workers that it needs. */
export interface Scenario {
  readonly name: string;
  readonly publish: (world: TestEngine) => Promise<string>;
  readonly data?: Json;
  /** People and workers: called every half second, also for instances that have ended. Must be safe to repeat. */
  readonly outside?: (world: TestEngine, instanceId: string, elapsedMs: number) => Promise<void>;
  /** Ends that are as good as the one without faults; by default there is none. */
  readonly alsoFine?: (outputs: Readonly<Record<string, Json>>) => boolean;
}

const step = (id: string, handler: string, members: object = {}): Json =>
  ({ type: 'step', id, handler, ...members }) as Json;

const failure = (message: string, retryable: boolean): StepOutcome => ({
  ok: false,
  failure: { message, retryable, code: retryable ? 'BUSY' : 'REFUSED' },
});

const done = (call: StepCall, output: object = {}): StepOutcome => ({
  ok: true,
  output: { did: call.blockId, attempt: call.attempt, ...output },
});

/** What a handler does may depend on what it is asked for, not on how often. */
export const scenarioScripts: Readonly<Record<string, Script>> = {
  quick: {},
  slow: { takesMs: 700 },
  slower: { takesMs: 1600, listens: true },
  flaky: { outcome: (call) => (call.attempt < 2 ? failure('busy', true) : done(call)) },
  refused: { outcome: () => failure('refused', false) },
  tick: { outcome: (call) => done(call, { more: call.iteration !== 'rounds:2' }) },
};

const RETRY = { max_attempts: 4, initial_backoff: 400, max_backoff: 5000 };

export const scenarios: readonly Scenario[] = [
  {
    name: 'sequence',
    publish: (world) =>
      world.publish([
        step('a', 'quick'),
        step('b', 'noop'),
        step('c', 'slow', { params: { of: '{{outputs.a.did}}' } }),
        step('d', 'set_state', { params: { key: 'seen', value: '{{outputs.c.did}}' } }),
        step('e', 'quick'),
      ]),
  },
  {
    name: 'parallel',
    publish: (world) =>
      world.publish([
        {
          type: 'parallel',
          id: 'all',
          branches: [
            [step('p1', 'quick'), step('p2', 'slow')],
            [step('q1', 'slower')],
            [step('r1', 'slow'), step('r2', 'noop'), step('r3', 'quick')],
          ],
        },
        step('after', 'quick'),
      ]),
  },
  {
    name: 'loop',
    publish: (world) =>
      world.publish([
        {
          type: 'loop',
          id: 'rounds',
          condition: 'outputs.pull == null || outputs.pull.more',
          poll_interval: 1,
          body: [step('pull', 'tick'), step('note', 'log', { params: { message: 'round' } })],
        },
        step('after', 'quick'),
      ]),
  },
  {
    name: 'for_each',
    data: { people: [{ name: 'ada' }, { name: 'ben' }, { name: 'cyd' }] },
    publish: (world) =>
      world.publish([
        {
          type: 'for_each',
          id: 'mails',
          collection: 'people',
          item_var: 'person',
          body: [step('send', 'quick', { params: { to: '{{data.person.name}}' } }), step('rest', 'noop')],
        },
      ]),
  },
  {
    name: 'retry',
    publish: (world) => world.publish([step('a', 'flaky', { retry: RETRY }), step('b', 'quick')]),
  },
  {
    name: 'timer',
    publish: (world) =>
      world.publish([
        step('a', 'quick'),
        step('b', 'quick', { delay: { duration: 5000 } }),
        step('nap', 'sleep', { params: { duration_ms: 3000 } }),
        step('c', 'quick'),
      ]),
  },
  {
    name: 'signal or timeout',
    publish: (world) =>
      world.publish([
        {
          type: 'race',
          id: 'first',
          branches: [
            [step('asked', 'quick', { wait_for_input: { prompt: 'Go on?' } })],
            [step('limit', 'sleep', { params: { duration_ms: 10_000 } }), step('late', 'quick')],
          ],
        },
        step('after', 'quick'),
      ]),
    outside: answerOnce('asked', 4000),
    // The limit may run out while the run is down; then either branch may win, and one that ends in the same round too.
    alsoFine: ({ after, limit, late, asked }) =>
      after !== undefined && limit !== undefined && (late !== undefined || isObjectWith(asked, 'did')),
  },
  {
    name: 'gate',
    publish: (world) =>
      world.publish([
        step('a', 'slow'),
        step('early', 'quick', { wait_for_input: { prompt: 'First?' } }),
        step('later', 'quick', { wait_for_input: { prompt: 'Second?' } }),
      ]),
    outside: async (world, id, elapsedMs) => {
      await answerOnce('early', 0)(world, id, elapsedMs);
      await answerOnce('later', 3000)(world, id, elapsedMs);
    },
  },
  {
    name: 'child',
    publish: async (world) => {
      await world.publish([step('inner', 'slow'), step('last', 'quick')], { name: 'child' });
      return world.publish([
        step('a', 'quick'),
        { type: 'sub_sequence', id: 'sub', sequence_name: 'child', input: { from: '{{outputs.a.did}}' } },
        step('b', 'quick', { params: { of: '{{outputs.sub}}' } }),
      ]);
    },
  },
  {
    name: 'saga',
    publish: (world) =>
      world.publish([
        {
          type: 'try_catch',
          id: 'guard',
          try_block: [
            {
              type: 'saga',
              id: 'trip',
              steps: [
                { id: 'seat', action: step('book', 'quick'), compensation: step('unbook', 'slow') },
                { id: 'room', action: step('rent', 'slow'), compensation: step('unrent', 'quick') },
                { id: 'pay', action: step('charge', 'refused') },
              ],
            },
          ],
          catch_block: [step('tell', 'quick')],
        },
      ]),
  },
  {
    name: 'try and finally',
    publish: (world) =>
      world.publish([
        {
          type: 'try_catch',
          id: 'guard',
          try_block: [step('a', 'quick'), step('b', 'refused')],
          catch_block: [step('c', 'slow')],
          finally_block: [step('d', 'quick')],
        },
        step('after', 'refused'),
      ]),
  },
  {
    name: 'worker task',
    publish: (world) =>
      world.publish([
        step('a', 'quick'),
        step('remote', 'packing', { retry: RETRY }),
        step('b', 'quick', { params: { of: '{{data.packed}}' } }),
      ]),
    outside: async (world, _, elapsedMs) => {
      const task = elapsedMs > 1000 ? await world.poll('packing') : null;
      if (task === null) return;
      const outcome =
        task.attempt === 0
          ? { ok: false as const, message: 'jam', retryable: true }
          : { ok: true as const, output: { packed: true } };
      await world.report(task, outcome);
    },
  },
  ...scenariosAround,
  ...scenariosBeyond,
  ...scenariosOfShape,
  ...scenariosOfItems,
  ...scenariosOfLimits,
];

/** One and the same signal, however often it is sent; repeats are known by their id. */
function answerOnce(blockId: string, afterMs: number): NonNullable<Scenario['outside']> {
  return async (world, instanceId, elapsedMs) => {
    if (elapsedMs < afterMs) return;
    const signalId = `01900000-0000-7000-9000-${Array.from(blockId)
      .map((c) => c.charCodeAt(0).toString(16))
      .join('')
      .padStart(12, '0')
      .slice(0, 12)}`;
    await world.signal(instanceId, `custom:human_input:${blockId}`, { value: 'yes' }, { signalId });
  };
}

function isObjectWith(value: Json | undefined, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}
