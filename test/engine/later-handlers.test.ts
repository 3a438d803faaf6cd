import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { step } from './support/blocks.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const LATER = [
  'llm_call',
  'agent',
  'mcp_call',
  'embed',
  'memory_store',
  'memory_search',
  'memory_delete',
  'continue_as_new',
];

async function booted(): Promise<TestEngine> {
  const world = new TestEngine();
  world.boot();
  await world.time.calm();
  return world;
}

const tasksOf = (world: TestEngine, handlerName: string) => {
  const query = { tenantId: TENANT, states: [], workerId: null, queueName: null, limit: 10, offset: 0 };
  return world.store.listTasks({ ...query, handlerName });
};

describe('handlers that are not here', () => {
  it.each(LATER)(
    '%s answers at once with a clear error and waits for no worker (RULINGS B8)',
    async (name) => {
      const world = await booted();
      const id = await world.start(await world.publish([step('later', name)]));
      expect(await world.untilEnded(id, 1000)).toMatchObject({
        state: 'failed',
        failure: {
          error: {
            code: 'HANDLER_NOT_AVAILABLE',
            retryable: false,
            message: `${name} is not available in this version`,
          },
        },
      });
      expect(await tasksOf(world, name)).toEqual([]);
    },
  );

  it('a later handler that a worker polled for lately is served by it (RULINGS B8)', async () => {
    const world = await booted();
    expect(await world.poll('llm_call')).toBeNull();
    await world.time.pass(1000);
    const id = await world.start(
      await world.publish([step('later', 'llm_call', { params: { model: 'm' } })]),
    );
    await world.untilState(id, 'waiting');
    const task = await world.poll('llm_call');
    if (task === null) throw new Error('there is no task');
    await world.report(task, { ok: true, output: { message: 'hello' } });
    expect(await world.untilEnded(id, 1000)).toMatchObject({ state: 'completed' });
  });

  it.each(['ap://slack', 'grpc://pay', 'wasm://score'])(
    'the plugin %s fails permanently [DISP-1]',
    async (name) => {
      const world = await booted();
      await world.poll(name);
      const rescued: JsonObject = {
        type: 'try_catch',
        id: 'try',
        try_block: [
          step('plugin', name, { retry: { max_attempts: 5, initial_backoff: 100, max_backoff: 100 } }),
        ],
        catch_block: [step('rescue', 'transform', { params: { error: '{{ data._error }}' } })],
      };
      const id = await world.start(await world.publish([rescued]));
      await world.untilEnded(id, 1000);
      expect(JSON.stringify(await world.outputs(id))).toContain(`no plugin is registered for ${name}`);
      const nodes = await world.store.listNodeRows(TENANT, id);
      const failed = nodes?.find(({ blockId }) => blockId === 'plugin');
      expect(failed?.node).toMatchObject({ error: { code: 'PLUGIN_NOT_REGISTERED', retryable: false } });
      expect(await tasksOf(world, name)).toEqual([]);
    },
  );

  it('a name nobody knows is a worker handler [DISP-1] [REG-3]', async () => {
    const world = await booted();
    const id = await world.start(await world.publish([step('work', 'pack_parcel')]));
    await world.untilState(id, 'waiting');
    expect(await tasksOf(world, 'pack_parcel')).toMatchObject([{ state: 'pending', blockId: 'work' }]);
  });

  it('a handler that a later build lacks becomes a worker task [REG-4]', async () => {
    const world = new TestEngine();
    const old = world.boot({
      scripts: { charge: { outcome: () => ({ ok: false, failure: { message: 'busy', retryable: true } }) } },
    });
    const retry = { max_attempts: 3, initial_backoff: 300_000, max_backoff: 300_000 };
    const id = await world.start(await world.publish([step('pay', 'charge', { retry })]));
    await world.time.until(() => world.ledger.of('pay').length === 1, 1000);
    await world.time.calm();
    old.crash();
    world.boot({ scripts: {} });
    await world.untilState(id, 'waiting', 700_000);
    expect(await tasksOf(world, 'charge')).toMatchObject([{ state: 'pending', attempt: 1 }]);
  });

  it('an error that a handler throws is retryable, its message is kept and its stack is not [REG-2]', async () => {
    const thrown = new Error('no route to the printer');
    const world = new TestEngine({
      scripts: {
        print: {
          outcome: () => {
            throw thrown;
          },
        },
      },
    });
    world.boot();
    const id = await world.start(await world.publish([step('print', 'print')]));
    const { failure } = await world.untilEnded(id);
    expect(failure?.error).toMatchObject({
      code: 'UNHANDLED_EXCEPTION',
      retryable: true,
      message: 'no route to the printer',
    });
    expect(JSON.stringify(failure)).not.toContain('.ts:');
  });
});
