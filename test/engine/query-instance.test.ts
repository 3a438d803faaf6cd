import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { step } from './support/blocks.ts';
import { START_AT, TestEngine } from './support/test-engine.ts';

const GATE = { wait_for_input: { prompt: 'Go on?' } };
const START_ID = '01800000-0000-7000-8000-00000000ffff';

async function booted(options: ConstructorParameters<typeof TestEngine>[0] = {}): Promise<TestEngine> {
  const world = new TestEngine(options);
  world.boot();
  await world.time.calm();
  return world;
}

/** Runs blocks to their end and answers the failure, or null. */
async function failureOf(world: TestEngine, blocks: Json, data: Json = {}): Promise<Json> {
  const ended = await world.untilEnded(await world.start(await world.publish(blocks), { data }));
  return ended.failure?.error ?? null;
}

describe('query_instance (handlers.md 6.3)', () => {
  const query = (id: Json) => step('query', 'query_instance', { params: { instance_id: id } });

  it('shows state, context, times and the current node of another instance', async () => {
    const world = await booted();
    const blocks = [
      step('first', 'noop'),
      { type: 'cancellation_scope', id: 'scope', blocks: [step('ask', 'noop', GATE)] },
    ];
    const other = await world.start(await world.publish(blocks), { data: { n: 1 } });
    await world.untilState(other, 'waiting');
    const id = await world.start(await world.publish([query(other)]));
    await world.untilEnded(id);
    expect((await world.outputs(id))['query']).toMatchObject({
      found: true,
      state: 'waiting',
      context: { data: { n: 1 }, config: {}, audit: [], runtime: { instance_id: other } },
      started_at: new Date(START_AT).toISOString(),
      completed_at: null,
      current_node: 'ask',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  it('an ended instance has its end and the node that completed last', async () => {
    const world = await booted();
    const other = await world.start(await world.publish([step('a', 'noop'), step('b', 'noop')]));
    const endedAt = (await world.untilEnded(other)).updatedAt;
    await world.time.pass(5000);
    const id = await world.start(await world.publish([query(other)]));
    await world.untilEnded(id);
    expect((await world.outputs(id))['query']).toMatchObject({
      state: 'completed',
      completed_at: new Date(endedAt).toISOString(),
      current_node: 'b',
    });
  });

  it('what is not there, or of another tenant, is not found, a malformed id fails, a dry run asks for real', async () => {
    const world = await booted();
    const dry = await world.start(await world.publish([query(START_ID)]), { dryRun: true });
    await world.untilEnded(dry);
    expect(await world.outputs(dry)).toEqual({ query: { found: false } });
    expect(await failureOf(world, [query('nobody')])).toMatchObject({
      code: 'INVALID_PARAMS',
      retryable: false,
    });
  });
});
