import { canonicalJson, type Json } from '../../core/json.ts';
import type { Client } from '../client.ts';
import type { GateAnswer } from '../client/instances.ts';
import type { Instance, InstanceState, Node } from '../client/wire.ts';
import type { TestWorld } from './compose.ts';
import type { Driver } from './drive.ts';

/** One instance in a test. */
export interface TestRun {
  readonly id: string;
  readonly instance: () => Promise<Instance>;
  readonly state: () => Promise<InstanceState>;
  /** The data of the context. */
  readonly data: () => Promise<Json>;
  /** Results by block id; in loops by `block@iteration`, such as `record@items:2`. */
  readonly outputs: () => Promise<Readonly<Record<string, Json>>>;
  readonly tree: () => Promise<readonly Node[]>;
  /** Answers the gate of a step with one of its choices, and lets the engine go on. Throws when no gate waits there. */
  readonly answer: (blockId: string, answer: string | GateAnswer) => Promise<void>;
  /** Sends a signal, and lets the engine go on. */
  readonly signal: (type: string, payload?: Json) => Promise<void>;
  /**
   * Lets time pass until the instance has ended, or nothing of it depends on time any more, at most a year. Answers the
   * state.
   */
  readonly finish: () => Promise<InstanceState>;
  /** Throws with the reason and the tree when the state is another one. */
  readonly assertState: (expected: InstanceState) => Promise<void>;
  /** Throws when the result of a block is another one; `blockId` as in `outputs`. */
  readonly assertOutput: (blockId: string, expected: Json) => Promise<void>;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const ENDED: readonly InstanceState[] = ['completed', 'failed', 'cancelled'];

export function testRun({ client, time }: TestWorld, driver: Driver, id: string): TestRun {
  const { instances } = client;
  const instance = () => instances.get(id);
  const state = async () => (await instance()).state;
  const outputs = async () => {
    const rows = await instances.outputs(id);
    return Object.fromEntries(rows.map((row) => [keyOf(row), row.output]));
  };
  return {
    id,
    instance,
    state,
    data: async () => (await instance()).context.data,
    outputs,
    tree: () => instances.tree(id),
    answer: async (blockId, answer) => {
      await driver.settle();
      const { items } = await client.approvals.list({ instance_id: id, limit: 1000 });
      const gate = items.find((item) => item.block_id === blockId);
      if (gate === undefined) throw new Error(`no gate waits at ${blockId}: ${await accountOf(client, id)}`);
      const chosen = typeof answer === 'string' ? { value: answer } : answer;
      const values = gate.choices.map(({ value }) => value);
      if (!values.includes(chosen.value))
        throw new Error(`${blockId} takes ${values.join(' or ')}, not ${chosen.value}`);
      await instances.answer(id, blockId, chosen);
      await driver.settle();
    },
    signal: async (type, payload = null) => {
      await instances.signal(id, { type, payload });
      await driver.settle();
    },
    finish: async () => {
      await driver.moveUntil(async () => ENDED.includes(await state()), time.nowMs() + YEAR_MS);
      return state();
    },
    assertState: async (expected) => {
      const found = await state();
      if (found !== expected)
        throw new Error(`the instance is ${found}, not ${expected}: ${await accountOf(client, id)}`);
    },
    assertOutput: async (blockId, expected) => {
      const found = await outputs();
      const output = Object.hasOwn(found, blockId) ? found[blockId] : undefined;
      if (output === undefined) throw new Error(`${blockId} has no output: ${await accountOf(client, id)}`);
      if (canonicalJson(output) !== canonicalJson(expected)) {
        throw new Error(`${blockId} has the output ${canonicalJson(output)}, not ${canonicalJson(expected)}`);
      }
    },
  };
}

function keyOf({ block_id, iteration }: { readonly block_id: string; readonly iteration: string }): string {
  return iteration === '' ? block_id : `${block_id}@${iteration}`;
}

/** Why the instance stands where it stands, for the text of an error. */
async function accountOf(client: Client, id: string): Promise<string> {
  const { summary } = await client.instances.explain(id);
  const nodes = await client.instances.tree(id);
  const lines = nodes.map(({ block_id, state, error }) => {
    const why = error === null ? '' : ` ${canonicalJson(error)}`;
    return `  ${block_id}: ${state}${why}`;
  });
  return [summary, ...lines].join('\n');
}
